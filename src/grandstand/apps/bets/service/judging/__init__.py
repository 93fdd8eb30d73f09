"""Kept here: predictions held against results: verified, scored, calibrated and audited."""
