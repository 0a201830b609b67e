"""bits, costs -> best tree: the C solver of the package."""
