"""Kept here: what is known and since when; the view of one moment that models read."""
