"""Kept here: the exchange: its words into ours, and ours into its."""
