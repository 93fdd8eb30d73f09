"""Kept here: people's own models, the figures they bring, and their back-tests."""
