"""Kept here: how a day, a card, a result and a preview look at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final, Literal

from rich.console import Console

from grandstand.apps.keiba.cli.telling import source, warn
from grandstand.apps.keiba.cli.words import (
    NONE,
    clock,
    counts,
    course,
    long_day,
    percent,
    shown,
    signed,
    sky,
    strip,
)
from grandstand.apps.keiba.model import Finisher, RaceResult
from grandstand.apps.keiba.service import (
    Card,
    CardRunner,
    Day,
    DayRace,
    Language,
    Meeting,
    Preview,
    Sourced,
)
from grandstand.kit.terminal import Column, Line, print_grid, say, title

Order = Literal["rank", "number"]

_DAY_COLUMNS: Final = (
    Column("R", right=True),
    Column("off", right=True),
    Column("race"),
    Column("grade", from_width=100),
    Column("course", from_width=56),
    Column("runners", right=True, from_width=66),
    Column("", from_width=90),
    Column("id", right=True),
)
_CARD_COLUMNS: Final = (
    Column("rank", right=True),
    Column("no", right=True),
    Column("horse"),
    Column("form", right=True, from_width=60),
    Column("days", right=True, from_width=100),
    Column("jockey", from_width=72),
    Column("kg", right=True, from_width=100),
    Column("win %", right=True),
    Column("top 3 %", right=True, from_width=80),
    Column("fair", right=True, from_width=90),
    Column("odds", right=True, from_width=44),
    Column("edge", right=True, from_width=80),
    Column("id", right=True, from_width=120),
)
_RESULT_COLUMNS: Final = (
    Column("place", right=True),
    Column("no", right=True),
    Column("horse"),
    Column("time", right=True, from_width=50),
    Column("margin", from_width=80),
    Column("jockey", from_width=70),
    Column("last 3F", right=True, from_width=90),
    Column("passing", from_width=100),
    Column("odds", right=True, from_width=60),
    Column("id", right=True, from_width=120),
)
_PAYOUT_COLUMNS: Final = (
    Column("bet"),
    Column("numbers"),
    Column("100 yen paid", right=True),
    Column("popularity", right=True, from_width=50),
)


def print_day(to: Console, day: Day) -> None:
    """Print a day's meetings, each with its races."""
    title(to, f"{long_day(day.race_date)}, times of Japan")
    if not day.meetings:
        say(to, "Nobody races on this day.")
    for meeting in day.meetings:
        to.print()
        title(to, _meeting_title(meeting))
        print_grid(to, _DAY_COLUMNS, map(_day_line, meeting.races))
    to.print()
    warn(to, day.warnings)
    for each in day.origins:
        source(to, each)


def _meeting_title(meeting: Meeting) -> str:
    numbers = ""
    if meeting.meeting_number is not None and meeting.day_number is not None:
        numbers = f"meeting {meeting.meeting_number}, day {meeting.day_number}"
    ground = ", ".join(
        f"{name} {going}"
        for name, going in (("turf", meeting.turf_going), ("dirt", meeting.dirt_going))
        if going is not None
    )
    weather = (meeting.weather or "").replace("_", " ")
    named = " ".join(filter(None, (meeting.track_name, meeting.track_english)))
    return " · ".join(filter(None, (named, meeting.circuit.upper(), numbers, weather, ground)))


def _day_line(race: DayRace) -> Line:
    entry = race.entry
    return Line(
        (
            str(entry.race_number),
            entry.post_time or NONE,
            entry.race_name or NONE,
            entry.grade or "",
            course(entry.track_type, entry.distance),
            shown(entry.runner_count),
            "result" if entry.has_result else "",
            entry.race_id,
        ),
        "dim" if entry.has_result else "",
    )


def print_card(to: Console, card: Card, *, order: Order, reasons: int, language: Language) -> None:
    """Print a card with its ranking, and why those at the top of it are there."""
    _print_head(to, card)
    gone = [each for each in card.runners if each.ranked is None]
    by_rank = order == "rank"
    runners = (*card.ranking, *gone) if by_rank else card.runners
    lines = (_card_line(each, card.race_date) for each in runners)
    print_grid(to, _CARD_COLUMNS, lines)
    for each in card.ranking[:reasons]:
        to.print()
        title(to, f"{shown(each.runner.horse_number)} {each.runner.horse_name}")
        for told in _reasons(each, language):
            say(to, f"  {told}")
    to.print()
    warn(to, (*card.warnings, *(each for runner in card.runners for each in runner.warnings)))
    say(to, counts(card.counts), "dim")
    source(to, card.race.origin)
    if card.odds is None:
        say(to, "No odds yet.", "dim")
    else:
        source(to, card.odds.origin, f"{card.odds.value.status} odds, ")


def _print_head(to: Console, card: Card) -> None:
    race = card.race.value
    where = " ".join(filter(None, (race.track_name, card.track_english)))
    number = "" if race.race_number is None else f"R{race.race_number}"
    title(to, " · ".join(filter(None, (race.race_name, race.grade, f"{where} {number}".strip()))))
    when = "date unknown" if card.race_date is None else long_day(card.race_date)
    off = "" if card.off_at is None else f"{clock(card.off_at)} JST"
    ran = " ".join(filter(None, (course(race.track_type, race.distance), race.direction)))
    say(to, " · ".join(filter(None, (when, off, ran, sky(race.weather, race.going)))))
    to.print()


def _card_line(each: CardRunner, before: date | None) -> Line:
    runner, ranked = each.runner, each.ranked
    known = () if each.form is None else each.form.value.recent_results
    earlier = [run for run in known if before is None or run.run_on < before]
    days = each.figures.days_since_last_run if each.figures else None
    odds = ranked.odds if ranked else runner.win_odds
    cells = (
        NONE if ranked is None else str(ranked.rank),
        shown(runner.horse_number),
        f"{runner.horse_name} (scratched)" if runner.scratched else runner.horse_name,
        strip(earlier),
        shown(days),
        shown(runner.jockey_name),
        shown(runner.carried_weight),
        percent(ranked.win if ranked else None),
        percent(ranked.top3 if ranked else None),
        NONE if ranked is None else f"{ranked.fair_odds:.1f}",
        shown(odds),
        signed(ranked.edge if ranked else None),
        runner.horse_id,
    )
    return Line(cells, "dim" if runner.scratched else "")


def _reasons(each: CardRunner, language: Language, most: int = 3) -> Iterator[str]:
    if each.ranked is not None:
        heaviest = sorted(each.ranked.reasons, key=lambda one: -abs(one.points))
        for one in heaviest[:most]:
            if language == "ja":
                yield f"{one.label_ja}: {one.sentence_ja}"
            else:
                yield f"{one.label}: {one.sentence}"


def print_result(to: Console, result: Sourced[RaceResult]) -> None:
    """Print how a race ended and what it paid."""
    to.print()
    title(to, "Result")
    if not result.value.confirmed:
        say(to, "Not confirmed yet.")
        return
    print_grid(to, _RESULT_COLUMNS, map(_result_line, result.value.finishers))
    to.print()
    paid = (
        Line(
            (
                each.bet.replace("_", " "),
                "-".join(map(str, each.numbers)),
                f"¥{each.amount_yen:,}",
                shown(each.popularity),
            )
        )
        for each in result.value.payouts
    )
    print_grid(to, _PAYOUT_COLUMNS, paid)
    to.print()
    warn(to, result.warnings)
    source(to, result.origin)


def _result_line(each: Finisher) -> Line:
    place = each.outcome if each.position is None else str(each.position)
    marks = "=" if each.dead_heat else "↓" if each.demoted else ""
    return Line(
        (
            f"{place}{marks}",
            shown(each.horse_number),
            each.horse_name,
            shown(each.time),
            shown(each.margin),
            shown(each.jockey_name),
            shown(each.last_3f),
            "-".join(map(str, each.passing)),
            shown(each.win_odds),
            each.horse_id,
        )
    )


def print_preview(to: Console, preview: Preview) -> None:
    """Print a written preview: the five at the top, the comparison, and runner by runner."""
    to.print()
    title(to, f"Preview, by {preview.model_id}")
    for pick in preview.top:
        said = f"{pick.place}. {shown(pick.horse_number)} {pick.horse_name}"
        say(to, f"{said} (confidence {pick.confidence}): {pick.reason}")
    to.print()
    say(to, preview.comparison)
    for each in preview.individual:
        to.print()
        title(to, f"{shown(each.horse_number)} {each.horse_name}")
        say(to, each.text)
    for part in preview.left_out:
        warn(to, (f"left out for its length: {part}",))
