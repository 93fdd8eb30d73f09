"""Backup and restore, and copying data between engines."""
