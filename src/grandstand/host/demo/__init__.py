"""The demo: simulators for the sources that are not connected."""
