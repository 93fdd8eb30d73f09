"""Kept here: tables as the file has them: listed, made, changed, counted."""
