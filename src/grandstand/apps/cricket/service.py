"""Everything cricket can do belongs here; empty as yet, only its tables are declared."""
