"""The language model: a narrow port, answers of a fixed shape, and what they may cost."""
