"""Kept here: what there is to see: matches, tables, what a search finds, replays and the hub."""
