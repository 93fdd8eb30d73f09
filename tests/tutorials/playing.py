"""A tutorial's page as a script: its blocks in order, in one shell, as a reader would type them.

A block of `sh` is run. One with `file=PATH` is written there. One of `text` after a block of `sh`
is what that must have said: its lines in order, where `…` stands for anything; others may be
between them.
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
_LONGEST_SECONDS = 120


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    file: str
    text: str


@dataclass(frozen=True)
class Said:
    """What a block of commands said, and what the page says it says."""

    commands: str
    output: str
    expected: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        """The first line of the page that was not said."""
        at, lines = 0, [line.rstrip() for line in self.output.splitlines()]
        for wanted in self.expected:
            form = re.compile(".*".join(map(re.escape, wanted.rstrip().split("…"))))
            found = [number for number in range(at, len(lines)) if form.fullmatch(lines[number])]
            if not found:
                return [wanted]
            at = found[0] + 1
        return []


def blocks_of(name: str) -> list[Block]:
    """Every fenced block of a tutorial."""
    text = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
    return [Block(kind, file, body) for kind, file, body in _BLOCK.findall(text)]


def play(name: str, tree: Path) -> list[Said]:
    """Do what a tutorial says in a tree; raises AssertionError when a command fails."""
    blocks = blocks_of(name)
    outputs = tree / ".said"
    outputs.mkdir()
    _stand_ins(tree)
    script = "\n".join(_steps(blocks, outputs))
    code, complaint = _run(["bash", "-c", _with_free_ports(script)], tree)
    told = [path.read_text(encoding="utf-8") for path in sorted(outputs.iterdir())]
    assert code == 0, f"{name}: {complaint}\n{''.join(told[-1:])}"
    return [*_said(blocks, told)]


def _run(words: list[str], tree: Path) -> tuple[int, str]:
    """Run a shell in a session of its own, and leave nothing of it running."""
    shell = subprocess.Popen(
        words,
        cwd=tree,
        env=_environment(tree),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = shell.communicate(timeout=_LONGEST_SECONDS)
        return shell.returncode, said
    except subprocess.TimeoutExpired:
        return -1, f"not done after {_LONGEST_SECONDS} seconds"
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


def _said(blocks: list[Block], told: list[str]) -> Iterator[Said]:
    said = iter(told)
    for at, block in enumerate(blocks):
        if block.kind == "sh":
            after = blocks[at + 1] if at + 1 < len(blocks) else Block("", "", "")
            expected = after.text.splitlines() if after.kind == "text" else []
            yield Said(block.text, next(said), tuple(line for line in expected if line != "…"))


def _stand_ins(tree: Path) -> None:
    """The commands of the tree, without setting up an environment: this one serves."""
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


def _with_free_ports(script: str) -> str:
    """The script with ports nobody listens on in place of the page's, which begin with 88."""
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
