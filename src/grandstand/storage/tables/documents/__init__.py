"""Kept here: what other tools and people read about tables, written from their declarations."""
