"""Kept here: what there is to see: games, what a search finds, and prices worth taking."""
