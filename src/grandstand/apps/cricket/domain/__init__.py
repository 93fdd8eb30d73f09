"""Cricket values and rules, without I/O."""
