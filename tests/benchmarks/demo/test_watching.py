"""What a process takes is seen from outside, its children included."""

import subprocess
import sys

from benchmarks.demo.watching import look_at, watch

_HELD = 40_000_000
_CHILD = f"held = b'x' * {_HELD}; print(1, flush=True); input()"
_PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {_CHILD!r}], stdin=subprocess.PIPE)
input()
child.communicate()
"""


def test_the_memory_of_a_child_counts_as_its_parents() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()

        seen = look_at(parent.pid)

        parent.stdin.write(b"\n")
    assert seen.resident_bytes > _HELD


def test_a_process_that_waits_takes_no_share_of_a_core() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as waiting:
        seen = watch(waiting.pid, 0.2, every=0.05)

    assert seen.most_bytes > 0
    assert seen.cpu_share < 1.5
