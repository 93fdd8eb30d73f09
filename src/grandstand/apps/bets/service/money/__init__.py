"""Kept here: books of the ledger, and the bets of people within their limits."""
