"""Kept here: what a new application may be called, and the words made from its name."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import Final

from grandstand.base.errors import Conflict, InvalidInput
from grandstand.host.cli import COMMANDS
from grandstand.host.settings import Settings

# First steps of addresses, and names of folders and topics, that belong to the house.
_TAKEN: Final = frozenset(
    {
        "account",
        "api",
        "health",
        "house",
        "kit",
        "live",
        "login",
        "logout",
        "metrics",
        "reference",
        "scoreboard",
        "search",
        "static",
        "status",
        "theme",
    }
)
_PURPOSE: Final = "Notes, until there is more."
_FORM: Final = re.compile(r"[a-z]{3,16}")
_LONGEST_TITLE: Final = 16
_LONGEST_PURPOSE: Final = 48


class AppNameTaken(Conflict):
    """Something of the house has this name already."""


@dataclass(frozen=True, slots=True)
class NewApp:
    """The words of a new application: `kind` is its class, `constant` its card."""

    name: str
    title: str
    purpose: str

    @property
    def kind(self) -> str:
        """The name of its service."""
        return self.name.capitalize()

    @property
    def constant(self) -> str:
        """The name of its card in the catalogue."""
        return self.name.upper()

    @property
    def words(self) -> dict[str, str]:
        """What stands for the words on the sheets."""
        return {
            "name": self.name,
            "kind": self.kind,
            "title": self.title,
            "purpose": self.purpose,
        }


def named(name: str, title: str = "", purpose: str = "") -> NewApp:
    """Answer the words of a new application; raise InvalidInput or AppNameTaken."""
    if not _FORM.fullmatch(name) or keyword.iskeyword(name):
        raise InvalidInput(
            f"An application is named by one word of 3 to 16 small letters, not {name!r}"
        )
    ours = _TAKEN | COMMANDS.keys() | Settings.model_fields.keys()
    if name in ours or hasattr(Settings, name):
        raise AppNameTaken(f"The house has something called {name} already; take another name")
    title = title or name.capitalize()
    purpose = f"{(purpose or _PURPOSE).rstrip('.')}."
    for told, longest in ((title, _LONGEST_TITLE), (purpose, _LONGEST_PURPOSE)):
        if len(told) > longest or not re.fullmatch(r"[\w ,.:;’'–-]+", told):
            raise InvalidInput(f"At most {longest} letters, digits and commas, please: {told!r}")
    return NewApp(name, title, purpose)
