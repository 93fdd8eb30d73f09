"""External data sources."""
