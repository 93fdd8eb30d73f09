"""Kept here: strengths of teams, and what they make of the scores of a game."""
