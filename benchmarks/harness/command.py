"""The command behind `./bench`: which benchmarks run, for how long, and where their results go."""

import argparse
import json
import os
import signal
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from typing import NoReturn, TextIO

from rich.console import Console

from benchmarks.harness.machine import machine
from benchmarks.harness.report import Result
from benchmarks.harness.rows import Row

Benchmark = Callable[[bool], Sequence[Row]]

_LONGEST_SECONDS = 8 * 60


def main(arguments: Sequence[str], benchmarks: Mapping[str, Benchmark]) -> int:
    """Runs what the arguments name; returns the exit code."""
    chosen = _parse(arguments, benchmarks)
    names = list(benchmarks) if chosen.name == "all" else [chosen.name]
    with _only_results() as results:
        done = [_run(name, benchmarks[name], full=chosen.full) for name in names]
        if chosen.json:
            objects = [result.as_json() for result in done]
            results.write(json.dumps(objects if chosen.name == "all" else objects[0]) + "\n")
        else:
            console = Console(file=results)
            for result in done:
                result.show(console)
    return 0


def _parse(arguments: Sequence[str], benchmarks: Mapping[str, Benchmark]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./bench", description="Runs one benchmark, or all, beside its peers."
    )
    parser.add_argument("name", choices=[*benchmarks, "all"], metavar="NAME", help="or: all")
    parser.add_argument("--json", action="store_true", help="print one object, or a list for all")
    parser.add_argument("--full", action="store_true", help="also the long curves")
    parser.epilog = f"benchmarks: {', '.join(benchmarks)}"
    return parser.parse_args(arguments)


def _run(name: str, benchmark: Benchmark, *, full: bool) -> Result:
    sys.stderr.write(f"grandstand: measuring {name}\n")
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(0 if full else _LONGEST_SECONDS)
    try:
        rows = benchmark(full)
    finally:
        signal.alarm(0)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Result(name, now, machine(), rows)


def _too_long(_signum: int, _frame: types.FrameType | None) -> NoReturn:
    raise TimeoutError(f"a benchmark took longer than {_LONGEST_SECONDS} seconds")


@contextmanager
def _only_results() -> Iterator[TextIO]:
    """A way to stdout that nothing else has: what benchmarks and peers print goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as results, redirect_stdout(sys.stderr):
            yield results
    finally:
        os.dup2(kept, 1)
        os.close(kept)
