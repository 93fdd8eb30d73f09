"""What is true of books and feeds: exact numbers, messages, order, markets and completeness."""
