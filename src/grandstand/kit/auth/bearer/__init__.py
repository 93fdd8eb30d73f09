"""Bearer tokens of an issuer we trust: its keys, what is believed, whom a token stands for."""
