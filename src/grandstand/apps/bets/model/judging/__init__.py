"""Kept here: how good forecasts and bets were, how sure that is, and what leaked into them."""
