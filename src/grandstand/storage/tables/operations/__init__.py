"""Kept here: what can be done with items, as values that any store carries out."""
