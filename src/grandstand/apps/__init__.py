"""The five applications live here, one package each; they cannot see each other."""
