"""Order books, messages, markets and coverage."""
