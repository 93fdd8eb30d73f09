"""What every storey stands on: errors, clock, ids, names, log and metrics."""
