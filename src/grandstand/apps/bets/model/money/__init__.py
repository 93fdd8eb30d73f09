"""Kept here: stakes and limits, settlement to the cent, and the ledger that proves it."""
