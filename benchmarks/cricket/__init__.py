"""Cricket: how fast a wicket reaches every lock screen."""

from benchmarks.harness.rows import Row


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` sends twice as many pushes and repeats the largest crowd."""
    # Here, because the sink is a module of this package that runs by itself.
    from benchmarks.cricket import crowd, detecting, pushing

    return [*crowd.rows(full=full), *detecting.rows(), *pushing.rows(full=full)]
