"""Where trading goes on: markets and their books, who trades in them, and the truth of it."""
