"""HTTP routes of the cricket app."""
