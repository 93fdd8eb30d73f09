"""Pages of the cricket app."""
