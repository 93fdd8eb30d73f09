"""Everything keiba can do belongs here; empty as yet, only its table is declared."""
