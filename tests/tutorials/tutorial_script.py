"""Runs the code blocks of a tutorial in order, in one shell.

An `sh` block is run, and a block with `file=PATH` is written to that path. A `text` block after an
`sh` block is the expected output: its lines in order, where `…` matches anything. The output may
have other lines in between.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"

_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"\b88\d\d\b")
_TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    file: str
    text: str


@dataclass(frozen=True)
class BlockResult:
    """Actual and expected output of a block of commands."""

    commands: str
    output: str
    expected: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        """The first expected line that is not in the output."""
        at, lines = 0, [line.rstrip() for line in self.output.splitlines()]
        for wanted in self.expected:
            form = re.compile(".*".join(map(re.escape, wanted.rstrip().split("…"))))
            found = [number for number in range(at, len(lines)) if form.fullmatch(lines[number])]
            if not found:
                return [wanted]
            at = found[0] + 1
        return []


def read_blocks(name: str) -> list[Block]:
    """Return the fenced blocks of a tutorial."""
    text = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
    return [Block(kind, file, body) for kind, file, body in _BLOCK.findall(text)]


def run_tutorial(name: str, tree: Path) -> list[BlockResult]:
    """Run a tutorial in a copy of the repository. Raises AssertionError if a command fails."""
    blocks = read_blocks(name)
    outputs = tree / ".outputs"
    outputs.mkdir()
    _write_commands(tree)
    script = "\n".join(_steps(blocks, outputs))
    code, complaint = _run(["bash", "-c", _use_free_ports(script)], tree)
    texts = [path.read_text(encoding="utf-8") for path in sorted(outputs.iterdir())]
    assert code == 0, f"{name}: {complaint}\n{''.join(texts[-1:])}"
    return [*_results(blocks, texts)]


def _run(command: list[str], tree: Path) -> tuple[int, str]:
    """Run a shell in its own session and kill everything it leaves running."""
    shell = subprocess.Popen(
        command,
        cwd=tree,
        env=_environment(tree),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=_TIMEOUT_SECONDS)
        return shell.returncode, output
    except subprocess.TimeoutExpired:
        return -1, f"not finished after {_TIMEOUT_SECONDS} seconds"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.communicate()


def _steps(blocks: list[Block], outputs: Path) -> Iterator[str]:
    yield "set -euo pipefail"
    yield "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT"
    for number, block in enumerate(blocks):
        if block.file:
            folder, file = shlex.quote(str(Path(block.file).parent)), shlex.quote(block.file)
            yield f"mkdir -p {folder}\ncat >{file} <<'END OF BLOCK'\n{block.text}END OF BLOCK"
        elif block.kind == "sh":
            output = shlex.quote(str(outputs / f"{number:03}"))
            yield f"{{\n{block.text}\n}} >{output} 2>&1"


def _results(blocks: list[Block], texts: list[str]) -> Iterator[BlockResult]:
    outputs = iter(texts)
    for at, block in enumerate(blocks):
        if block.kind == "sh":
            after = blocks[at + 1] if at + 1 < len(blocks) else Block("", "", "")
            expected = after.text.splitlines() if after.kind == "text" else []
            yield BlockResult(
                block.text, next(outputs), tuple(line for line in expected if line != "…")
            )


def _write_commands(tree: Path) -> None:
    """Write `run` and `test` scripts that use this environment."""
    python = shlex.quote(sys.executable)
    commands = {
        ".venv/bin/python": f'exec {python} "$@"',
        "run": f'exec {python} -m grandstand "$@"',
        "test": f'exec {python} -m pytest -q -k "not dynamodb" "$@"',
    }
    for name, line in commands.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(f"#!/usr/bin/env bash\n{line}\n", encoding="utf-8")
        (tree / name).chmod(0o755)


def _use_free_ports(script: str) -> str:
    """Replace the ports of the tutorial, which start with 88, by free ones."""
    with_free = script
    for port in sorted(set(_PORT.findall(script))):
        with socket.create_server(("127.0.0.1", 0)) as free:
            with_free = re.sub(rf"\b{port}\b", str(free.getsockname()[1]), with_free)
    return with_free


def _environment(tree: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}",
        "GRANDSTAND_HOME": str(tree / ".home"),
        "COLUMNS": "120",
    }
