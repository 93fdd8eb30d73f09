"""Kept here: what feeds and files tell, taken in, and what of it is kept for good."""
