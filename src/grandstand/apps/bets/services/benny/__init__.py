"""Benny, the AI trader who bets virtual money in public."""
