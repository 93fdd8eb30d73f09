"""Language models: structured replies, cost control and providers."""
