"""The demo: stand-ins for the outside sources that are not connected, and what they tell."""
