"""What every benchmark is made of: rows with aims, timing, the machine, and the report."""
