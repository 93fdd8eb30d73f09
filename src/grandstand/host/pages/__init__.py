"""Kept here: the house's own pages: home, status, people's accounts, and the gallery of parts."""
