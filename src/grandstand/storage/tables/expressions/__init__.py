"""Condition, update, projection and key expressions."""
