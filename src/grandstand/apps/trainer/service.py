"""Everything the trainer can do belongs here; empty as yet, only its tables are declared."""
