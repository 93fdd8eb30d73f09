"""Keiba: Japanese racing data, fetched politely, kept, and explained."""
