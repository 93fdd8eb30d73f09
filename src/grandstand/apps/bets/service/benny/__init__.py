"""Kept here: Benny: what he thinks, what he bets, his money, and how he is shown."""
