"""What is true of books and feeds belongs here; empty as yet, because nothing is recorded."""
