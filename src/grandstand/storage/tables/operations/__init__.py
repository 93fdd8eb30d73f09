"""Operations on items, as values that any store runs."""
