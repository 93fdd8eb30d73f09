"""Reading matches, reference data and the state of the system."""
