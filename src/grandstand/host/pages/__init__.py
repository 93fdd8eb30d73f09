"""Pages of the platform: home, search, status, account, scoreboard and gallery."""
