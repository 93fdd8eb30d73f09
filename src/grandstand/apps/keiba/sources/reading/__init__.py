"""Kept here: what reading any page takes: its letters, its tree, its tables, links and words."""
