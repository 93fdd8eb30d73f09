"""Values and rules of Japanese racing."""
