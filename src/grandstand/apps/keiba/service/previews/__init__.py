"""Kept here: previews in words: what they are written from, by whom, and by which rules."""
