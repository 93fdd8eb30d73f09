"""`grandstand config`: show the settings and create a settings file."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from pydantic import BaseModel, SecretStr
from rich.console import Console
from rich.table import Table as Grid

from grandstand.core.errors import Conflict
from grandstand.host.cli.output import AsJson
from grandstand.host.settings import Settings, read_settings, setting_names, settings_file

config = typer.Typer(help="Show the settings.", no_args_is_help=True)

_HEAD = """\
# Settings of Grandstand. What is commented out has its default.
# A variable in the environment wins over this file: GRANDSTAND_SERVER_PORT over [server] port.
"""


class SettingsFileExists(Conflict):
    """A settings file exists already."""

    code = "settings-file-exists"


@config.command()
def show(*, as_json: AsJson = False) -> None:
    """Show all settings with their values; secrets are hidden."""
    settings = read_settings()
    values = {path: _plain(_value(settings, path)) for path in setting_names()}
    if as_json:
        typer.echo(json.dumps(values, indent=2))
        return
    file = settings_file()
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for heading in ("settings.toml", "value", "in the environment"):
        grid.add_column(heading, overflow="fold")
    for path, name in setting_names().items():
        changed = _value(settings, path) != _value(Settings.model_construct(), path)
        value = json.dumps(values[path], ensure_ascii=False)
        grid.add_row(path, f"[bold]{value}[/]" if changed else value, f"[dim]{name}[/]")
    console = Console()
    console.print(
        f"{file}{'' if file.exists() else ' (missing; create it with `grandstand config init`)'}"
    )
    console.print(grid)


@config.command()
def init(
    *, force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False
) -> None:
    """Write a settings file with every setting, its default and its help."""
    file = settings_file()
    if file.exists() and not force:
        raise SettingsFileExists(f"{file} exists. Edit it, or overwrite it with --force.")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(template(), encoding="utf-8")
    file.chmod(0o600)
    typer.echo(f"wrote {file}")


def template() -> str:
    """Return a settings file with all defaults."""
    defaults = Settings.model_construct()
    parts, sections = [_HEAD], []
    for name, field in Settings.model_fields.items():
        value = getattr(defaults, name)
        if isinstance(value, BaseModel):
            sections.append(f"\n[{name}]\n{_lines(value)}")
        else:
            parts.append(_line(name, field.description or "", value))
    return "\n".join([*parts, *sections])


def _lines(section: BaseModel) -> str:
    return "\n".join(
        _line(name, field.description or "", getattr(section, name))
        for name, field in type(section).model_fields.items()
    )


def _line(name: str, help_text: str, value: object) -> str:
    return f"# {help_text}\n# {name} = {_toml(_plain(value, conceal=False))}\n"


def _toml(value: object) -> str:
    """Return a value as TOML; JSON texts, numbers and lists are valid TOML."""
    if value is None:
        return '""'
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{{inner}}}"
    return json.dumps(value, ensure_ascii=False)


def _value(settings: Settings, path: str) -> Any:  # noqa: ANN401 - settings are of many kinds
    value: Any = settings
    for step in path.split("."):
        value = getattr(value, step)
    return value


def _plain(value: object, *, conceal: bool = True) -> object:
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return "(set)" if conceal and secret not in ("", "chunks") else secret
    if isinstance(value, dict):
        return {key: _plain(each, conceal=conceal) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each, conceal=conceal) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
