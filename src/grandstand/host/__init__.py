"""Composition root: settings, server, command line, demo and backup."""
