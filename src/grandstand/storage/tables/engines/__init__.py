"""Kept here: the engines that keep tables, one folder each."""
