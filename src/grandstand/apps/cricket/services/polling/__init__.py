"""Polling the score feed: syncing fixtures, and following matches from start to end."""
