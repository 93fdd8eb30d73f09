"""The exchange belongs here, one file for each outsider; empty as yet."""
