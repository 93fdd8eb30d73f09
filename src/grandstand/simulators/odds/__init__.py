"""A world of leagues and bookmakers whose truth is known, and the feeds that tell of it."""
