"""The score feed belongs here, one file for each outsider; empty as yet."""
