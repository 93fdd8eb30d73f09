"""Client and parsers of netkeiba."""
