"""Pages: templates, page elements, tables and static files."""
