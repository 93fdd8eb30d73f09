"""Kept here: what concerns one person: their teams, what they are told, and what is kept."""
