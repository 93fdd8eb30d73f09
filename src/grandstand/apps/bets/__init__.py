"""Bets: odds, models, an honest scoreboard, and Benny, who bets virtual money in public."""
