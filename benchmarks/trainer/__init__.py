"""The trainer: how well its offline judge agrees with labels made by hand, and its speed."""

from benchmarks.harness.rows import Row
from benchmarks.trainer.agreement import agreement
from benchmarks.trainer.offline_judge import canaries, evaluation_rate
from benchmarks.trainer.service import rows


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` adds agreement on each dimension."""
    return [*agreement(each_dimension=full), canaries(), evaluation_rate(), *rows()]
