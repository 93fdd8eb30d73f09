"""Kept here: what names, time zones and odds formats people may have."""

from __future__ import annotations

import difflib
import functools
import re
import unicodedata
import zoneinfo
from typing import Final, get_args

from grandstand.base.errors import InvalidInput
from grandstand.kit.who.caller import OddsFormat, Preferences

_NAME: Final = re.compile(r"[^\W_](?:[\w.@+-]{0,62}\w)?")
_LABEL_LENGTH: Final = 64


def checked_name(name: str) -> str:
    """Answer a name an account may have; raise InvalidInput with what to change."""
    if not is_name(name):
        message = (
            "A name has 1 to 64 letters and digits, and between them . _ @ + or -: choose another"
        )
        raise InvalidInput(message)
    return unicodedata.normalize("NFKC", name).strip()


def is_name(name: str) -> bool:
    """Tell whether an account may have this name."""
    return _NAME.fullmatch(unicodedata.normalize("NFKC", name).strip()) is not None


def name_key(name: str) -> str:
    """Answer the form in which names are compared: case and ways of writing make no difference."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).strip().casefold())


def checked_label(label: str) -> str:
    """Answer what a key may be called; raise InvalidInput with what to change."""
    normal = " ".join(unicodedata.normalize("NFKC", label).split())
    if not normal or len(normal) > _LABEL_LENGTH or not normal.isprintable():
        message = f"A key's name has 1 to {_LABEL_LENGTH} visible characters: choose another"
        raise InvalidInput(message)
    return normal


def checked_preferences(time_zone: str, odds_format: str) -> Preferences:
    """Answer preferences that can be kept; raise InvalidInput with what to change."""
    if time_zone not in time_zones():
        near = difflib.get_close_matches(time_zone, sorted(time_zones()), n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "name one such as Europe/London"
        message = f"There is no time zone {time_zone[:_LABEL_LENGTH]!r}; {hint}"
        raise InvalidInput(message)
    for known in get_args(OddsFormat):
        if known == odds_format:
            return Preferences(time_zone, known)
    message = f"Odds are shown as {', '.join(get_args(OddsFormat))}: choose one of these"
    raise InvalidInput(message)


@functools.cache
def time_zones() -> frozenset[str]:
    """Answer the names of all time zones this machine knows."""
    return frozenset(zoneinfo.available_timezones())
