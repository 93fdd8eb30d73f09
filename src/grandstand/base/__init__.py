"""What every storey stands on: errors, clock, ids, values, log and metrics."""
