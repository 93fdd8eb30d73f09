"""What happens in a match: the kinds of events and the rules that see them."""
