"""Kept here: what a new application is made from, and how it is entered in the house."""
