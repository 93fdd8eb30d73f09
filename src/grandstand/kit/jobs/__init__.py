"""Scheduled work: declared by apps, run by one instance at a time."""
