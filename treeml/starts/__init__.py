"""Trees that other programs made -> a tree to start from, over the columns and tests of a problem."""
