"""Kept here: what the house is told of a match once phones were: its great moments."""

from __future__ import annotations

from typing import Final

from grandstand.apps.cricket.model.events.kinds import EventKind
from grandstand.apps.cricket.service.telling.bulletins import Bulletin
from grandstand.kit.events import Events

_GREAT: Final[frozenset[EventKind]] = frozenset({"wicket", "hattrick", "hundred", "match_end"})


async def tell_house(events: Events, bulletin: Bulletin, phones: int) -> None:
    """Record a great moment that was pushed to so many phones; nothing of others."""
    told = bulletin.told
    if told is None or bulletin.alert is None or told.event.kind not in _GREAT or not phones:
        return
    reached = "a phone" if phones == 1 else f"{phones:,} phones"
    text = f"{told.title}. {told.body}. Pushed to {reached}"
    await events.record("cricket", told.event.kind, text, f"/cricket/matches/{bulletin.match_id}")
