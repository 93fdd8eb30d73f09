"""Real parts that tests and benchmarks run against, found on the machine or fetched by hash."""
