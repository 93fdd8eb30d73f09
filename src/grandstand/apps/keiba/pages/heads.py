"""Kept here: what stands above every page of a race: its name, its day and its terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from grandstand.apps.keiba.model import RaceCard, RaceResult, ids
from grandstand.apps.keiba.pages.tongue import Tongue
from grandstand.apps.keiba.service import JST, Card
from grandstand.kit.pages.shown import number

_CLOSE: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Head:
    """A race above its page: `facts` in the page's language.

    It is `close` in the half hour before it is off, and `over` from then on.
    """

    race_id: str
    name: str
    race_number: int | None
    grade: str | None
    track: str
    race_date: date | None
    off_at: datetime | None
    facts: tuple[str, ...]
    prizes: str
    over: bool
    close: bool


def head_of_card(card: Card, t: Tongue, now: datetime) -> Head:
    """Answer what stands above a card."""
    return _head(card.race.value, card.race_date, card.off_at, t, now)


def head_of_result(result: RaceResult, t: Tongue, now: datetime) -> Head:
    """Answer what stands above a result."""
    day = result.race_date or ids.date_of(result.race_id)
    return _head(result, day, _off_at(day, result.post_time), t, now)


def _head(
    race: RaceCard | RaceResult,
    day: date | None,
    off_at: datetime | None,
    t: Tongue,
    now: datetime,
) -> Head:
    track = ids.track_of(race.race_id)
    return Head(
        race_id=race.race_id,
        name=race.race_name,
        race_number=race.race_number or ids.number_of(race.race_id),
        grade=race.grade,
        track=t.either(track.english if track else None, race.track_name),
        race_date=day,
        off_at=off_at,
        facts=tuple(filter(None, _facts(race, t))),
        prizes=", ".join(t.money(prize) for prize in race.prize_money),
        over=off_at is not None and off_at <= now,
        close=off_at is not None and now < off_at <= now + _CLOSE,
    )


def _facts(race: RaceCard | RaceResult, t: Tongue) -> Iterator[str]:
    """The terms of a race, in words; what is not known is not said."""
    distance = "" if race.distance is None else f"{number(race.distance)} m"
    yield f"{t.term('surface', race.track_type)} {distance}".strip()
    yield t.term("direction", race.direction)
    yield race.course or ""
    going = t.term("going", race.going)
    yield f"{t.w['going']}: {going}" if going else ""
    yield t.term("weather", race.weather)
    held = (race.ages, race.race_class, race.weight_rule)
    yield from (t.term("condition", one) for one in held)
    count = race.runner_count or (len(race.horses) if isinstance(race, RaceCard) else None)
    yield "" if count is None else f"{count}{'' if t.japanese else ' '}{t.w['heads']}"


def _off_at(day: date | None, post_time: str | None) -> datetime | None:
    if day is None or post_time is None:
        return None
    try:
        return datetime.strptime(f"{day} {post_time}", "%Y-%m-%d %H:%M").replace(tzinfo=JST)
    except ValueError:
        return None
