"""Kept here: what is known read back, the models run on it, and their predictions published."""
