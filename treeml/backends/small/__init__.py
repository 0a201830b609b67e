"""Small trees by fixed-parameter search (Ordyniak and Szeider 2021): instances, support sets, and the search."""
