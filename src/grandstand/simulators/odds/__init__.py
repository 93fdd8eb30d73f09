"""Simulated leagues and bookmakers with known true odds, served as The Odds API and ESPN."""
