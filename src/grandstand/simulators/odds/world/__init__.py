"""The leagues and bookmakers themselves: seasons made from a seed, and what is true of them."""
