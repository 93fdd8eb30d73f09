"""Kept here: how a new application is entered in the files that list applications."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from grandstand.base.errors import Conflict
from grandstand.host.scaffold.naming import NewApp

_WIDTH: Final = 100
_IMPORT: Final = re.compile(r"^from grandstand\.apps\.\w+\.\w+ import .+\n", re.MULTILINE)
_CARDS: Final = re.compile(r"^(APPS: [^=]+= )\(([A-Z,\s]+)\)\n", re.MULTILINE)
_FIELDS_END: Final = "\n    @classmethod\n    def settings_customise_sources("
_COMMANDS: Final = re.compile(r"^COMMANDS: [^=]+= \{\n(?:    .*\n)+(?=\}\n)", re.MULTILINE)
_LISTED: Final = re.compile(r"^- \[\w+\]\(\w+\.md\)\n", re.MULTILINE)


class ForeignLayout(Conflict):
    """A file does not look as it must for an application to be entered in it."""


def into_catalogue(text: str, new: NewApp) -> str:
    """Enter the card in host/catalogue.py; raise ForeignLayout."""
    line = f"from grandstand.apps.{new.name}.app import CARD as {new.constant}\n"
    text = _among(text, _IMPORT, line)
    found = _CARDS.search(text)
    if found is None:
        raise ForeignLayout("APPS is not a plain list of cards")
    cards = re.findall(r"[A-Z]+", found[2])
    cards += [] if new.constant in cards else [new.constant]
    plain = f"{found[1]}({', '.join(cards)})\n"
    if len(plain) > _WIDTH:
        plain = f"{found[1]}(\n{''.join(f'    {card},{chr(10)}' for card in cards)})\n"
    return text.replace(found[0], plain)


def into_settings(text: str, new: NewApp) -> str:
    """Enter the settings in host/settings.py; raise ForeignLayout."""
    kind = f"{new.kind}Settings"
    text = _among(text, _IMPORT, f"from grandstand.apps.{new.name}.settings import {kind}\n")
    if f"\n    {new.name}: {kind} = " in text:
        return text
    if text.count(_FIELDS_END) != 1:
        raise ForeignLayout("the end of the settings' fields is not where it was")
    given = f'default_factory={kind}, description="{new.title}."'
    plain = f"    {new.name}: {kind} = Field({given})\n"
    if len(plain) > _WIDTH:
        plain = f"    {new.name}: {kind} = Field(\n        {given}\n    )\n"
    return text.replace(_FIELDS_END, plain + _FIELDS_END)


def into_commands(text: str, new: NewApp) -> str:
    """Enter the commands in host/cli/__init__.py; raise ForeignLayout."""
    found = _COMMANDS.search(text)
    if found is None:
        raise ForeignLayout("COMMANDS is not a plain table of commands")
    if f'\n    "{new.name}": ' in found[0]:
        return text
    given = f'f"{{_HERE}}.apps", "{new.name}", "{new.purpose}"'
    plain = f'    "{new.name}": Deferred({given}),\n'
    if len(plain) > _WIDTH:
        plain = f'    "{new.name}": Deferred(\n        {given}\n    ),\n'
    return text.replace(found[0], found[0] + plain)


def into_pages(text: str, new: NewApp) -> str:
    """Enter the page in docs/apps/README.md; raise ForeignLayout."""
    return _among(text, _LISTED, f"- [{new.title}]({new.name}.md)\n")


def _among(text: str, form: re.Pattern[str], line: str) -> str:
    """Enter a line in its place among sorted ones of its form."""
    lines = [found[0] for found in form.finditer(text)]
    if not lines:
        raise ForeignLayout(f"there is no line such as {line.strip()!r}")
    if line in lines:
        return text
    before = [each for each in lines if each < line]
    if not before:
        return text.replace(lines[0], line + lines[0], 1)
    return text.replace(before[-1], before[-1] + line, 1)


ENTRIES: Final[dict[str, Callable[[str, NewApp], str]]] = {
    "src/grandstand/host/catalogue.py": into_catalogue,
    "src/grandstand/host/settings.py": into_settings,
    "src/grandstand/host/cli/__init__.py": into_commands,
    "docs/apps/README.md": into_pages,
}
