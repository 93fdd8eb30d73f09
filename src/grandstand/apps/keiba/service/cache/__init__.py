"""Kept here: pages from the cache or the site, how each kind is kept, and looking into it."""
