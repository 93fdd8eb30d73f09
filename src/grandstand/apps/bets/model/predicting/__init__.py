"""Kept here: how models come to a forecast, are calibrated, put together, and walked forward."""
