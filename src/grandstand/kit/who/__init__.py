"""Who is calling: people, their credentials, and what they may do."""
