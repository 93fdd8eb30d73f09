"""Benchmarks: one module each, ours and its peers side by side in one run."""
