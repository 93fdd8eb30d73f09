"""Kept here: what keiba's routes are given, and the answers that no value of the service has."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from grandstand.apps.keiba.model import Odds
from grandstand.apps.keiba.service import (
    CacheEntry,
    Card,
    Language,
    Progress,
    Sourced,
    Watched,
)
from grandstand.kit.routes import Strict

Words = Annotated[str, Field(max_length=4000, examples=["Who likes wet ground?"])]
Note = Annotated[str, Field(max_length=4000, examples=["Likes a left-handed course."])]


class Told(Strict):
    """What a caller is answered; made of a value's own fields."""

    model_config = ConfigDict(from_attributes=True, strict=False)


class NextMeeting(Told):
    """The next day of racing in Japan; None when the site knows none."""

    race_date: date | None
    today: date
    now: datetime


class CardSeen(Told):
    """A card as far as it is kept, and how far its gathering has come.

    `whole` when nothing is missing. Without a card there is only progress.
    """

    race_id: str
    whole: bool
    card: Card | None
    progress: Progress | None


class OddsSeen(Told):
    """The odds of a race; None before there are any."""

    race_id: str
    odds: Sourced[Odds] | None


class PreviewAsked(Strict):
    """What a preview is to look at, and its language."""

    words: Words = ""
    language: Language = "en"


class PurgeAsked(Strict):
    """Which entries are to go: all conditions must hold, and at least one is to be given."""

    prefix: Annotated[str, Field(max_length=80, examples=["RACE#2025"])] = ""
    kind: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    older_than_seconds: Annotated[float, Field(ge=0, le=1e10)] | None = None
    expired_only: bool = False
    dry: bool = True


class WatchAsked(Strict):
    """What to remember of a horse."""

    note: Note = ""


class WatchedList(Told):
    """The horses the caller watches, by name."""

    horses: tuple[Watched, ...]


class EntryList(Told):
    """Entries of the cache; `cursor` leads to more."""

    entries: tuple[CacheEntry, ...]
    cursor: str | None
