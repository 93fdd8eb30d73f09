"""Recorded rows played again, as if the exchange told them now."""
