"""Kept here: conditions, updates and projections: as values, as text, and carried out."""
