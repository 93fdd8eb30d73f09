"""The race site's words into ours: one module per kind of page, and the way to fetch them."""
