"""Pushes to phones, browsers and the webhook."""
