"""Kept here: recording: connections, feeds, and the rows on their way to the series."""
