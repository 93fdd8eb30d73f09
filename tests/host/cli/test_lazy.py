"""The command line loads only what is called."""

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from grandstand.host.cli import COMMANDS, app, full_command

_HEAVY = {"fastapi", "pydantic", "rich", "starlette", "grandstand.host.registry", "uvicorn"}


def test_help_lists_every_command_and_loads_none() -> None:
    code = (
        "import sys\nfrom grandstand.host.cli import main\nsys.argv[1:] = ['--help']\n"
        f"try: main()\nfinally: print('loaded:', *sorted(sys.modules.keys() & {_HEAVY!r}))"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert [name for name in COMMANDS if f"\n  {name} " not in said.stdout] == []
    assert said.stdout.rstrip().endswith("loaded:")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does_once_it_is_called(name: str) -> None:
    done = CliRunner().invoke(app, [name, "--help"])

    assert done.exit_code == 0
    assert COMMANDS[name].help


def test_the_whole_command_line_has_the_same_commands() -> None:
    group = typer.main.get_command(full_command())

    assert set(group.commands) == {*COMMANDS, "reference"}  # type: ignore[attr-defined]


def test_a_mistyped_command_is_answered_with_the_nearest() -> None:
    done = CliRunner().invoke(app, ["table"])

    assert done.exit_code == 2
    assert "tables" in done.output
