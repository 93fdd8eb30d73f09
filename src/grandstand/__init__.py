"""Grandstand: five sports and racing applications on one storage core."""
