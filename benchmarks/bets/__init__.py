"""Bets: margin removal, settlement, walk-forward evaluation and access patterns."""

from benchmarks.harness.rows import Row


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` means more bets, three comparisons, and two million odds rows."""
    # Here, because the vectors are a module of this package that runs by itself.
    from benchmarks.bets import devig, patterns, season, settlement

    return [
        *devig.rows(),
        *settlement.rows(full=full),
        *season.rows(full=full),
        *patterns.rows(full=full),
    ]
