"""Kept here: work on whole tables: swept, brought to a new form, copied elsewhere."""
