"""Outsiders cricket talks to: the score feed, and the services that push."""
