"""Kept here: what the requests of every operation are made of."""
