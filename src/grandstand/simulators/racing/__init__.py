"""Simulated race site: generated racing seasons behind the pages of netkeiba."""
