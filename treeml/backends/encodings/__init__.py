"""Ways to write a Problem as constraints: one encoding per file."""
