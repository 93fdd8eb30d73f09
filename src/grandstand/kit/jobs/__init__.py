"""Work done without being asked for: declared by applications, run once across instances."""
