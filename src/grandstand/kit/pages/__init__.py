"""Kept here: what pages are made of: templates, parts, static files and the words for values."""
