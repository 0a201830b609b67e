"""Ways to solve a written model: one solver per file."""
