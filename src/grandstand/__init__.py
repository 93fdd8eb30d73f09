"""Grandstand: five sports and racing applications on one storage core."""

__version__ = "0.2.0"
