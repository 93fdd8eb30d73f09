"""Tables of the cricket app and their access patterns."""
