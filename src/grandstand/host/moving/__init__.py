"""Kept here: data on the move: into a backup and back, and from one engine to another."""
