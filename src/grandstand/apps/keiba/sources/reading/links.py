"""Kept here: the ids that the links of a page carry."""

from __future__ import annotations

import re
from typing import Final

_RACE: Final = re.compile(r"(?:race_id=|/race/(?:result/)?)([0-9]{4}[0-9A-Za-z]{8})(?![0-9A-Za-z])")
_HORSE: Final = re.compile(r"/horse/(?:result/|ped/)?([0-9a-z]{10})(?![0-9a-z])")
_JOCKEY: Final = re.compile(r"/jockey/(?:result/)?(?:recent/)?([0-9a-z]{5})(?![0-9a-z])")
_TRAINER: Final = re.compile(r"/trainer/(?:result/)?(?:recent/)?([0-9a-z]{5})(?![0-9a-z])")


def race_in(link: str) -> str | None:
    """Answer the race a link leads to; those overseas have letters in their ids."""
    return _first(_RACE, link)


def horse_in(link: str) -> str | None:
    """Answer the horse a link leads to."""
    return _first(_HORSE, link)


def jockey_in(link: str) -> str | None:
    """Answer the jockey a link leads to."""
    return _first(_JOCKEY, link)


def trainer_in(link: str) -> str | None:
    """Answer the trainer a link leads to."""
    return _first(_TRAINER, link)


def _first(pattern: re.Pattern[str], link: str) -> str | None:
    found = pattern.search(link)
    return found[1] if found else None
