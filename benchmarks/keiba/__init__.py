"""Keiba: how well its numbers foretell, and how fast its pages are read and served."""
