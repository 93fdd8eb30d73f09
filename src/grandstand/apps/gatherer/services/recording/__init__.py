"""Recording: connections, feeds and writing to the series."""
