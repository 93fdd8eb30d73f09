"""The way to our disk: keyed tables and time series, each over exchangeable engines."""
