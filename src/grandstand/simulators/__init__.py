"""Simulated external services on loopback that speak the real protocols."""
