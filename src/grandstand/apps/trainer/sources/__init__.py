"""Outsiders of the trainer: judges, and people who write scenarios; one file for each."""
