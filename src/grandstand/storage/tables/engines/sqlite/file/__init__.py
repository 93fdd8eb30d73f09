"""Kept here: the file of a store: opened, shared between threads, waited for, copied."""
