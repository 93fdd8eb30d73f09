"""Kept here: following the feed: fixtures read, matches polled, ticked, begun and ended."""
