"""A prediction exchange one can run: its REST, its stream, its truth, and all that goes wrong."""
