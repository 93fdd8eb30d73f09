"""The feed's own words: every row it sends, field by field."""
