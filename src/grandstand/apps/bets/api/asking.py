"""Kept here: what the routes of bets are asked with, and what they have in common."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import AwareDatetime, Field

from grandstand.apps.bets.model import AnalysisType
from grandstand.apps.bets.service import Bets

_SPORT: Final = r"^[a-z0-9_]{1,60}$"
_BOOK: Final = r"^[A-Za-z0-9_.-]{1,60}$"
_ID: Final = r"^[A-Za-z0-9_.:-]{1,128}$"
EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)

Sport = Annotated[str, Query(pattern=_SPORT, examples=["basketball_nba"])]
MaybeSport = Annotated[
    str | None,
    Query(pattern=_SPORT, examples=["basketball_nba"], description="The first one without."),
]
SportPath = Annotated[str, Path(pattern=_SPORT, examples=["basketball_nba"])]
SportText = Annotated[str, Field(pattern=_SPORT, examples=["basketball_nba"])]
Book = Annotated[str, Query(pattern=_BOOK, examples=["fanduel"])]
MaybeBook = Annotated[str | None, Query(pattern=_BOOK, examples=["fanduel"])]
Model = Annotated[str, Query(pattern=r"^[a-z0-9_]{1,60}$", examples=["ensemble"])]
MarketKey = Annotated[str | None, Query(pattern=r"^[a-z0-9_]{1,60}$", examples=["player_points"])]
Kind = Annotated[AnalysisType, Query(alias="type", description="About games, or about players.")]
Days = Annotated[int, Query(ge=1, le=3650, examples=[30])]
Limit = Annotated[int, Query(ge=1, le=100, examples=[20])]
Cursor = Annotated[str | None, Query(max_length=4000)]
GameId = Annotated[str, Path(pattern=_ID, examples=["e912304de2b2ce35b473ce2ecd3d1502"])]
GameRef = Annotated[str | None, Query(pattern=_ID)]
GameText = Annotated[str, Field(pattern=_ID, examples=["e912304de2b2ce35b473ce2ecd3d1502"])]
ModelId = Annotated[str, Path(pattern=_ID, examples=["01kafc2q8x3m5r7t9v0w1y2z3a"])]
OwnId = Annotated[str, Path(pattern=_ID)]
Team = Annotated[str, Path(pattern=r"^[^\x00-\x1f/#]{1,80}$", examples=["Los Angeles Lakers"])]
Day = Annotated[date, Field(ge=EARLIEST.date(), le=LATEST.date(), examples=["2025-10-21"])]
Moment = Annotated[AwareDatetime, Field(ge=EARLIEST, le=LATEST, examples=["2026-02-11T14:00:00Z"])]


class RoutesPart:
    """Some routes: who asks and what for; the answers come from bets."""

    def __init__(self, bets: Bets) -> None:
        self._bets = bets
        self._cursors = bets.cursors

    def _sport(self, sport: str | None) -> str:
        return self._bets.sports()[0] if sport is None else sport


def to_second(moment: datetime) -> datetime:
    """Answer a moment in UTC, to the second."""
    return moment.astimezone(UTC).replace(microsecond=0)
