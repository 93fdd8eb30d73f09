"""Cricket: live matches followed ball by ball, and the lock screens that show them."""
