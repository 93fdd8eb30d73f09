"""Kept here: the operations on items: one, several, and those a query or scan finds."""
