"""Everything the gatherer can do belongs here; empty as yet, only its series are declared."""
