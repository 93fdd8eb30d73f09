"""Accounts, credentials and permissions."""
