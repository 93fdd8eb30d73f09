"""Kept here: the built-in models, one module each."""
