"""Judges, and scenarios written in YAML."""
