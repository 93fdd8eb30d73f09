"""The pages of the race site: one module for each kind, in the structure of the real ones."""
