"""Kept here: the engines that keep series, one folder each."""
