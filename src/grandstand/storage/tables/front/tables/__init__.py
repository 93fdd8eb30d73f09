"""Kept here: the operations on whole tables: made, changed, described, tagged, followed."""
