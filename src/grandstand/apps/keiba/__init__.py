"""Keiba: Japanese racing data, cached and explained."""
