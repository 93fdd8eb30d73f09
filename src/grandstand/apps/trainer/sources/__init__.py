"""The judges belong here, one file for each outsider; empty as yet."""
