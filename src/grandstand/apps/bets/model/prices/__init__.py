"""Kept here: prices: their forms, the margins in them, and whole markets of them in columns."""
