"""Commands of `grandstand keiba`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Final, Generic, Literal, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.tree import Tree

from grandstand.apps.keiba.domain.backtest import Bin
from grandstand.apps.keiba.domain.form import Record
from grandstand.apps.keiba.domain.horses import (
    Ancestor,
    JockeyFigures,
    JockeyRecord,
    JockeyYear,
    Parent,
    PastRun,
)
from grandstand.apps.keiba.domain.races import (
    Finisher,
    Going,
    Language,
    Payout,
    RaceEntry,
    RaceResult,
    Surface,
    Weather,
)
from grandstand.apps.keiba.services import Keiba, cache_admin
from grandstand.apps.keiba.services.analysis import BacktestReport
from grandstand.apps.keiba.services.cards import (
    Card,
    CardRunner,
    PrefetchReport,
    Progress,
    ProgressCallback,
)
from grandstand.apps.keiba.services.page_cache import JST, Horse, Origin, Sourced, today_in_japan
from grandstand.apps.keiba.services.previews import Preview
from grandstand.apps.keiba.services.race_days import Day, Meeting
from grandstand.apps.keiba.settings import SITE_TERMS
from grandstand.core.errors import InvalidInput, SourceFailed
from grandstand.core.formatting import EMPTY, format_bytes, format_duration
from grandstand.kit.terminal import (
    ColumnSpec,
    TableRow,
    console,
    echo_json,
    print_line,
    print_table,
    print_title,
)

T = TypeVar("T")
OpenKeiba = Callable[[], AbstractAsyncContextManager[Keiba]]

_STATES: Final = {"fetched": "just fetched", "fresh": "cached", "stale": "stale"}


def text_or_dash(value: object) -> str:
    return EMPTY if value is None else str(value)


def format_percent_number(share: float | None) -> str:
    """Return a share as a percentage without the sign."""
    return EMPTY if share is None else f"{100 * share:.1f}"


def format_edge(share: float | None) -> str:
    """Return a difference of shares in percentage points."""
    return EMPTY if share is None else f"{100 * share:+.1f}"


def format_long_date(day: date) -> str:
    return f"{day:%A} {day.day} {day:%B %Y}"


def format_clock(moment: datetime | None) -> str:
    return EMPTY if moment is None else f"{moment.astimezone(JST):%H:%M}"


def format_timestamp(moment: datetime | None) -> str:
    return EMPTY if moment is None else f"{moment.astimezone(JST):%Y-%m-%d %H:%M} JST"


def format_course(surface: Surface | None, distance: int | None) -> str:
    meters = f"{distance} m" if distance else None
    return " ".join(filter(None, (surface, meters))) or EMPTY


def format_conditions(weather: Weather | None, going: Going | None) -> str:
    return ", ".join(filter(None, ((weather or "").replace("_", " "), going)))


def format_place(run: PastRun) -> str:
    """Return the position of a run, × if it was not finished."""
    return "×" if run.position is None else str(run.position)


def format_recent_places(runs: Sequence[PastRun], limit: int = 5) -> str:
    return " ".join(format_place(run) for run in runs[:limit]) or EMPTY


def format_record(record: Record) -> str:
    return f"{record.starts} starts: {record.placings}"


def format_yen(units: Decimal | None) -> str:
    """Return an amount given in units of 10,000 yen."""
    return EMPTY if units is None else f"¥{int(units * 10_000):,}"


def describe_origin(origin: Origin) -> str:
    """Return the URL, cache state and age of a page."""
    state = _STATES[origin.state]
    if origin.state != "fetched":
        state = f"{state}, {format_duration(origin.age_seconds)} old"
    error = f" ({origin.error})" if origin.error else ""
    return f"{origin.page}: {state}{error}"


def describe_progress(progress: Progress) -> str:
    text = f"{progress.total} lookups: {progress.cached} cached, {progress.fetched} fetched"
    return f"{text}, {progress.failed} failed" if progress.failed else text


@dataclass(frozen=True, slots=True)
class _Column(Generic[T]):
    """A table column, and the value of its cells; None is shown as a dash."""

    heading: str
    value: Callable[[T], object]
    right: bool = False
    from_width: int = 0


def _print_records(
    to: Console,
    columns: Sequence[_Column[T]],
    records: Iterable[T],
    style: Callable[[T], str] = lambda _: "",
) -> None:
    print_table(
        to,
        [ColumnSpec(each.heading, each.right, each.from_width) for each in columns],
        (
            TableRow([text_or_dash(each.value(record)) for each in columns], style(record))
            for record in records
        ),
    )


def _print_output(value: T, show: Callable[[Console, T], None], *, as_json: bool) -> None:
    if as_json:
        echo_json(value)
    else:
        show(console(), value)


def print_source(to: Console, origin: Origin, prefix: str = "") -> None:
    """Print the origin of a page, without wrapping its URL."""
    to.print(escape(f"{prefix}{describe_origin(origin)}"), style="dim", soft_wrap=True)


def print_warnings(to: Console, warnings: Iterable[str]) -> None:
    for warning in dict.fromkeys(warnings):
        print_line(to, f"! {warning}", "yellow")


@contextmanager
def show_progress(title: str, *, lines: bool = False) -> Iterator[ProgressCallback]:
    """Show a progress bar on stderr.

    Without a terminal there is no bar; with `lines` a line is printed for every tenth instead.
    """
    terminal = Console(stderr=True, highlight=False)
    if not terminal.is_terminal:
        yield _line_reporter(title) if lines else lambda _: None
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24 if terminal.width > 48 else 8),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[left]}"),
        console=terminal,
        transient=True,
    )
    with bar as running:
        task = running.add_task(escape(title), total=0, left="")

        def report(progress: Progress) -> None:
            running.update(
                task, completed=progress.done, total=progress.total, left=_time_left(progress)
            )

        yield report


def _line_reporter(title: str) -> ProgressCallback:
    reported = 0

    def report(progress: Progress) -> None:
        nonlocal reported
        tenths = 10 * progress.done // progress.total if progress.total else 0
        if tenths > reported:
            reported = tenths
            left = _time_left(progress)
            done = f"{progress.done} of {progress.total}"
            typer.echo(f"{title}: {done}{f', {left}' if left else ''}", err=True)

    return report


def _time_left(progress: Progress) -> str:
    if not progress.seconds_left or progress.finished:
        return ""
    return f"{format_duration(progress.seconds_left)} left"


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RefreshOption = Annotated[
    bool, typer.Option("--refresh", help="Fetch again unless cached very recently.")
]
CircuitOption = Annotated[
    Literal["jra", "nar"] | None,
    typer.Option("--circuit", help="Only JRA (national) or NAR (local) tracks."),
]


def run_with_keiba(open_keiba: OpenKeiba, action: Callable[[Keiba], Awaitable[T]]) -> T:
    """Open the services, run an action, and close them."""

    async def run() -> T:
        async with open_keiba() as keiba:
            return await action(keiba)

    return asyncio.run(run())


def parse_date(text: str) -> date:
    """Parse a date such as 20261115 or 2026-11-15."""
    for date_format in ("%Y%m%d", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, date_format).replace(tzinfo=JST).date()
        except ValueError:
            continue
    raise InvalidInput(f"Invalid date {text!r}. Use YYYYMMDD.")


_LOSS_COLUMNS: Final[tuple[_Column[tuple[str, int, float | None]], ...]] = (
    _Column("log loss", lambda line: line[0]),
    _Column("races", lambda line: line[1], right=True),
    _Column("", lambda line: None if line[2] is None else f"{line[2]:.3f}", right=True),
)
_BIN_COLUMNS: Final[tuple[_Column[Bin], ...]] = (
    _Column("forecast", lambda bin_: f"{100 * bin_.mean_chance:.1f} %", right=True),
    _Column("runners", lambda bin_: bin_.runners, right=True),
    _Column("won", lambda bin_: f"{100 * bin_.won:.1f} %", right=True),
)


def print_backtest(to: Console, tested: BacktestReport) -> None:
    """Print the accuracy of the ranking, compared with uniform chances and the market."""
    skipped = f", {tested.skipped} skipped without form" if tested.skipped else ""
    races = "1 race" if tested.races == 1 else f"{tested.races} races"
    print_title(to, f"{tested.first} to {tested.last}: {races}{skipped}")
    if not tested.races:
        print_line(to, "No cached results for these days. Fetch one with `race ID --result`.")
        return
    to.print()
    losses = (
        ("our ranking", tested.races, tested.log_loss),
        ("uniform", tested.races, tested.uniform_loss),
        ("our ranking, races with odds", tested.market_races, tested.our_market_loss),
        ("market, same races", tested.market_races, tested.market_loss),
    )
    _print_records(to, _LOSS_COLUMNS, losses)
    to.print()
    _print_records(to, _BIN_COLUMNS, tested.calibration)
    to.print()
    book = tested.account
    staked = f"{book.bets} bets of ¥100 with positive expected return: staked ¥{book.staked_yen:,}"
    print_line(to, f"{staked}, returned ¥{book.returned_yen:,}")


def _format_finish(run: PastRun) -> str | None:
    if run.position is None:
        return run.outcome
    return f"{run.position}/{run.runner_count}" if run.runner_count else str(run.position)


_RUN_COLUMNS: Final[tuple[_Column[PastRun], ...]] = (
    _Column("date", lambda run: run.run_on, right=True),
    _Column("track", lambda run: run.track, from_width=44),
    _Column("race", lambda run: run.race_name, from_width=60),
    _Column("course", lambda run: format_course(run.track_type, run.distance), from_width=52),
    _Column("going", lambda run: run.going, from_width=90),
    _Column("place", _format_finish, right=True),
    _Column("time", lambda run: run.time, right=True, from_width=70),
    _Column("jockey", lambda run: run.jockey_name, from_width=100),
    _Column("odds", lambda run: run.win_odds, right=True, from_width=80),
    _Column("last 3F", lambda run: run.last_3f, right=True, from_width=110),
    _Column("weight", lambda run: run.body_weight, right=True, from_width=120),
    _Column("race id", lambda run: run.race_id, right=True, from_width=140),
)


def print_horse(to: Console, horse: Horse, *, runs: int, pedigree: bool) -> None:
    profile = horse.profile.value
    names = " ".join(filter(None, (horse.name, profile.english_name)))
    print_title(to, f"{names} ({horse.horse_id})")
    for line in _describe_horse(horse):
        print_line(to, line)
    if horse.form is not None and horse.form.value.recent_results:
        to.print()
        recent = horse.form.value.recent_results[:runs]
        _print_records(to, _RUN_COLUMNS, recent, lambda run: "bold" if run.position == 1 else "")
        more = len(horse.form.value.recent_results) - len(recent)
        if more:
            print_line(to, f"{more} more; use --runs.", "dim")
    if pedigree and horse.pedigree is not None:
        to.print()
        to.print(_pedigree_tree(horse.name, horse.pedigree.value.ancestors))
    to.print()
    print_warnings(to, horse.warnings)
    for each in (horse.profile, horse.form, horse.pedigree):
        if each is not None:
            print_source(to, each.origin)


def _describe_horse(horse: Horse) -> list[str]:
    profile = horse.profile.value
    state = {True: "active", False: "retired", None: None}[profile.active]
    age = None if profile.age is None else f"{profile.age} years"
    born = None if profile.born_on is None else f"born {profile.born_on}"
    trained = " ".join(filter(None, (profile.trainer_name, profile.stable)))
    trainer = f"trained by {trained}" if trained else None
    about = (state, profile.sex, age, profile.coat, born, trainer)
    lines = [
        ", ".join(filter(None, about)),
        f"{format_record(horse.career)}, won {format_yen(profile.earnings)}",
    ]
    if horse.parents is not None:
        parents = horse.parents.value
        lines += [f"sire {_describe_parent(parents.sire)}", f"dam {_describe_parent(parents.dam)}"]
    return [line for line in lines if line]


def _describe_parent(parent: Parent) -> str:
    if parent.name is None:
        return "unknown"
    name = parent.name if parent.id is None else f"{parent.name} ({parent.id})"
    if parent.first is None:
        return name
    places = "-".join(
        text_or_dash(each)
        for each in (parent.first, parent.second, parent.third, parent.fourth_or_lower)
    )
    return f"{name}, {places}, won {format_yen(parent.earnings)}"


def _pedigree_tree(name: str, ancestors: Iterable[Ancestor]) -> Tree:
    root = Tree(escape(name), guide_style="dim")
    nodes = {"": root}
    for ancestor in sorted(ancestors, key=lambda each: each.path.replace("S", "A")):
        parent = nodes.get(ancestor.path[:-1])
        if parent is not None:
            side = "sire" if ancestor.path.endswith("S") else "dam"
            about = (
                ancestor.name or ancestor.english_name or "unknown",
                ancestor.country,
                ancestor.born_year,
            )
            label = " ".join(str(each) for each in (side, *about) if each is not None)
            nodes[ancestor.path] = parent.add(escape(label))
    return root


@dataclass(frozen=True, slots=True)
class _JockeyPeriod:
    """Statistics of a year, or of several."""

    name: str
    figures: JockeyFigures
    year: JockeyYear | None = None


_JOCKEY_COLUMNS: Final[tuple[_Column[_JockeyPeriod], ...]] = (
    _Column("", lambda period: period.name),
    _Column("rides", lambda period: f"{period.figures.total_races:,}", right=True),
    _Column("1st", lambda period: f"{period.figures.wins:,}", right=True),
    _Column("2nd", lambda period: f"{period.figures.seconds:,}", right=True, from_width=50),
    _Column("3rd", lambda period: f"{period.figures.thirds:,}", right=True, from_width=50),
    _Column("win %", lambda period: period.figures.win_rate, right=True),
    _Column("top 2 %", lambda period: period.figures.top2_rate, right=True, from_width=70),
    _Column("top 3 %", lambda period: period.figures.place_rate, right=True),
    _Column("rank", lambda each: each.year.rank if each.year else "", right=True, from_width=80),
    _Column("best horse", lambda each: each.year.best_horse if each.year else "", from_width=90),
)


def print_jockey(to: Console, jockey: Sourced[JockeyRecord]) -> None:
    """Print a jockey's career, the last five years, and each year."""
    record = jockey.value
    print_title(to, f"{record.jockey_name} ({record.jockey_id})")
    debut = None if record.debut_year is None else f"debut {record.debut_year}"
    height = None if record.height_cm is None else f"{record.height_cm} cm"
    weight = None if record.weight_kg is None else f"{record.weight_kg} kg"
    about = ", ".join(filter(None, (record.kana, record.affiliation, debut, height, weight)))
    if about:
        print_line(to, about)
    to.print()
    periods = [_JockeyPeriod("career", record.overall_stats)]
    if record.recent_5year_stats is not None:
        periods.append(_JockeyPeriod("last five years", record.recent_5year_stats))
    for year in record.years:
        name = f"{year.year} {year.circuit.upper()}"
        periods.append(_JockeyPeriod(name, year.figures, year))
    _print_records(to, _JOCKEY_COLUMNS, periods)
    to.print()
    print_warnings(to, jockey.warnings)
    print_source(to, jockey.origin)


CardOrder = Literal["rank", "number"]


def _format_place(finisher: Finisher) -> str:
    place = finisher.outcome if finisher.position is None else str(finisher.position)
    return f"{place}{'=' if finisher.dead_heat else '↓' if finisher.demoted else ''}"


_DAY_COLUMNS: Final[tuple[_Column[RaceEntry], ...]] = (
    _Column("R", lambda race: race.race_number, right=True),
    _Column("off", lambda race: race.post_time, right=True),
    _Column("race", lambda race: race.race_name),
    _Column("grade", lambda race: race.grade or "", from_width=100),
    _Column("course", lambda race: format_course(race.track_type, race.distance), from_width=56),
    _Column("runners", lambda race: race.runner_count, right=True, from_width=66),
    _Column("", lambda race: "result" if race.has_result else "", from_width=90),
    _Column("id", lambda race: race.race_id, right=True),
)
_CARD_COLUMNS: Final = (
    ColumnSpec("rank", right=True),
    ColumnSpec("no", right=True),
    ColumnSpec("horse"),
    ColumnSpec("form", right=True, from_width=60),
    ColumnSpec("days", right=True, from_width=100),
    ColumnSpec("jockey", from_width=72),
    ColumnSpec("kg", right=True, from_width=100),
    ColumnSpec("win %", right=True),
    ColumnSpec("top 3 %", right=True, from_width=80),
    ColumnSpec("fair", right=True, from_width=90),
    ColumnSpec("odds", right=True, from_width=44),
    ColumnSpec("edge", right=True, from_width=80),
    ColumnSpec("id", right=True, from_width=120),
)
_RESULT_COLUMNS: Final[tuple[_Column[Finisher], ...]] = (
    _Column("place", _format_place, right=True),
    _Column("no", lambda each: each.horse_number, right=True),
    _Column("horse", lambda each: each.horse_name),
    _Column("time", lambda each: each.time, right=True, from_width=50),
    _Column("margin", lambda each: each.margin, from_width=80),
    _Column("jockey", lambda each: each.jockey_name, from_width=70),
    _Column("last 3F", lambda each: each.last_3f, right=True, from_width=90),
    _Column("passing", lambda each: "-".join(map(str, each.passing)), from_width=100),
    _Column("odds", lambda each: each.win_odds, right=True, from_width=60),
    _Column("id", lambda each: each.horse_id, right=True, from_width=120),
)
_PAYOUT_COLUMNS: Final[tuple[_Column[Payout], ...]] = (
    _Column("bet", lambda payout: payout.bet.replace("_", " ")),
    _Column("numbers", lambda payout: "-".join(map(str, payout.numbers))),
    _Column("100 yen paid", lambda payout: f"¥{payout.amount_yen:,}", right=True),
    _Column("popularity", lambda payout: payout.popularity, right=True, from_width=50),
)


def print_day(to: Console, day: Day) -> None:
    print_title(to, f"{format_long_date(day.race_date)}, times in JST")
    if not day.meetings:
        print_line(to, "No racing on this day.")
    for meeting in day.meetings:
        to.print()
        print_title(to, _meeting_title(meeting))
        races = (race.entry for race in meeting.races)
        _print_records(to, _DAY_COLUMNS, races, lambda race: "dim" if race.has_result else "")
    to.print()
    print_warnings(to, day.warnings)
    for each in day.origins:
        print_source(to, each)


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


def print_card(
    to: Console, card: Card, *, order: CardOrder, reasons: int, language: Language
) -> None:
    """Print a card, its ranking, and the reasons of the top runners."""
    _print_header(to, card)
    gone = [each for each in card.runners if each.ranked is None]
    by_rank = order == "rank"
    runners = (*card.ranking, *gone) if by_rank else card.runners
    lines = (_card_row(each, card.race_date) for each in runners)
    print_table(to, _CARD_COLUMNS, lines)
    for each in card.ranking[:reasons]:
        to.print()
        print_title(to, f"{text_or_dash(each.runner.horse_number)} {each.runner.horse_name}")
        for reason in _top_reasons(each, language):
            print_line(to, f"  {reason}")
    to.print()
    print_warnings(
        to, (*card.warnings, *(each for runner in card.runners for each in runner.warnings))
    )
    print_line(to, describe_progress(card.progress), "dim")
    print_source(to, card.race.origin)
    if card.odds is None:
        print_line(to, "No odds yet.", "dim")
    else:
        print_source(to, card.odds.origin, f"{card.odds.value.status} odds, ")


def _print_header(to: Console, card: Card) -> None:
    race = card.race.value
    where = " ".join(filter(None, (race.track_name, card.track_english)))
    number = "" if race.race_number is None else f"R{race.race_number}"
    print_title(
        to, " · ".join(filter(None, (race.race_name, race.grade, f"{where} {number}".strip())))
    )
    when = "date unknown" if card.race_date is None else format_long_date(card.race_date)
    off = "" if card.off_at is None else f"{format_clock(card.off_at)} JST"
    ran = " ".join(filter(None, (format_course(race.track_type, race.distance), race.direction)))
    print_line(
        to, " · ".join(filter(None, (when, off, ran, format_conditions(race.weather, race.going))))
    )
    to.print()


def _card_row(each: CardRunner, before: date | None) -> TableRow:
    runner, ranked = each.runner, each.ranked
    known = () if each.form is None else each.form.value.recent_results
    earlier = [run for run in known if before is None or run.run_on < before]
    days = each.figures.days_since_last_run if each.figures else None
    odds = ranked.odds if ranked else runner.win_odds
    cells = (
        EMPTY if ranked is None else str(ranked.rank),
        text_or_dash(runner.horse_number),
        f"{runner.horse_name} (scratched)" if runner.scratched else runner.horse_name,
        format_recent_places(earlier),
        text_or_dash(days),
        text_or_dash(runner.jockey_name),
        text_or_dash(runner.carried_weight),
        format_percent_number(ranked.win if ranked else None),
        format_percent_number(ranked.top3 if ranked else None),
        EMPTY if ranked is None else f"{ranked.fair_odds:.1f}",
        text_or_dash(odds),
        format_edge(ranked.edge if ranked else None),
        runner.horse_id,
    )
    return TableRow(cells, "dim" if runner.scratched else "")


def _top_reasons(runner: CardRunner, language: Language, limit: int = 3) -> Iterator[str]:
    if runner.ranked is not None:
        reasons = sorted(runner.ranked.reasons, key=lambda reason: -abs(reason.points))
        for reason in reasons[:limit]:
            if language == "ja":
                yield f"{reason.label_ja}: {reason.sentence_ja}"
            else:
                yield f"{reason.label}: {reason.sentence}"


def print_result(to: Console, result: Sourced[RaceResult]) -> None:
    to.print()
    print_title(to, "Result")
    if not result.value.confirmed:
        print_line(to, "Not confirmed yet.")
        return
    _print_records(to, _RESULT_COLUMNS, result.value.finishers)
    to.print()
    _print_records(to, _PAYOUT_COLUMNS, result.value.payouts)
    to.print()
    print_warnings(to, result.warnings)
    print_source(to, result.origin)


def print_preview(to: Console, preview: Preview) -> None:
    to.print()
    print_title(to, f"Preview, by {preview.model_id}")
    for pick in preview.top:
        name = f"{pick.place}. {text_or_dash(pick.horse_number)} {pick.horse_name}"
        print_line(to, f"{name} ({pick.confidence} confidence): {pick.reason}")
    to.print()
    print_line(to, preview.comparison)
    for each in preview.individual:
        to.print()
        print_title(to, f"{text_or_dash(each.horse_number)} {each.horse_name}")
        print_line(to, each.text)
    print_warnings(to, (f"omitted to fit the prompt: {part}" for part in preview.omitted))


_AGE_PATTERN: Final = re.compile(r"([0-9]{1,9})(s|min|h|d|w)?")
_SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, None: 1}

_KIND_COLUMNS: Final[tuple[_Column[cache_admin.KindReport], ...]] = (
    _Column("kind", lambda kind: kind.kind),
    _Column("valid", lambda kind: f"{kind.valid:,}", right=True),
    _Column("expired", lambda kind: f"{kind.expired:,}", right=True, from_width=50),
    _Column("size", lambda kind: format_bytes(kind.stored_bytes), right=True),
    _Column("oldest", lambda kind: format_timestamp(kind.oldest_at), right=True, from_width=80),
    _Column("newest", lambda kind: format_timestamp(kind.newest_at), right=True, from_width=100),
)
_SITE_COLUMNS: Final = (
    ColumnSpec("site", from_width=90),
    ColumnSpec("host"),
    ColumnSpec("requests today", right=True),
    ColumnSpec("left", right=True, from_width=50),
    ColumnSpec("next request", right=True, from_width=70),
    ColumnSpec("paused until", right=True, from_width=110),
)
_ENTRY_COLUMNS: Final[tuple[_Column[cache_admin.CacheEntry], ...]] = (
    _Column("partition", lambda entry: entry.partition),
    _Column("sort", lambda entry: entry.sort),
    _Column("size", lambda entry: format_bytes(entry.stored_bytes), right=True),
    _Column("fetched", lambda entry: format_timestamp(entry.fetched_at), right=True, from_width=80),
    _Column(
        "expires", lambda entry: format_timestamp(entry.expires_at), right=True, from_width=100
    ),
)

PrefixOption = Annotated[
    str, typer.Option("--prefix", help="Start of the partition key, such as HORSE# or RACE#2026.")
]
KindOption = Annotated[str | None, typer.Option("--kind", help="A kind listed by `stats`.")]
OlderThanOption = Annotated[
    str | None, typer.Option("--older-than", help="Minimum age: 90min, 12h, 3d, 2w.")
]


def _add_stats(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def stats(*, as_json: JsonOption = False) -> None:
        """Show cache statistics and the status of the sites."""
        report = run_with_keiba(open_keiba, lambda keiba: keiba.cache_admin.report())
        _print_output(report, _print_report, as_json=as_json)


def _add_inspect(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def inspect(
        partition: Annotated[
            str, typer.Argument(help="A partition key or its start: RACE#202605050701.")
        ] = "",
        sort: Annotated[
            str | None, typer.Argument(help="A sort key such as METADATA, to show one entry.")
        ] = None,
        *,
        limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of entries.")] = 50,
        as_json: JsonOption = False,
    ) -> None:
        """List cache entries, or show one with its payload."""
        if sort is None:
            page = run_with_keiba(
                open_keiba, lambda keiba: keiba.cache_admin.entries(partition, limit=limit)
            )
            _print_output(page, _print_cache_entries, as_json=as_json)
            return
        payload = run_with_keiba(
            open_keiba, lambda keiba: keiba.cache_admin.inspect(partition, sort)
        )
        _print_output(payload, _print_payload, as_json=as_json)


def _add_purge(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def purge(
        *,
        prefix: PrefixOption = "",
        kind: KindOption = None,
        older_than: OlderThanOption = None,
        expired: Annotated[bool, typer.Option("--expired", help="Only expired entries.")] = False,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only.")] = False,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
        as_json: JsonOption = False,
    ) -> None:
        """Remove cache entries that meet all conditions; at least one is required.

        The entries are counted first, and you are asked to confirm.
        """
        purge_filter = cache_admin.PurgeFilter(prefix, kind, _parse_age(older_than), expired)
        if as_json and not (yes or dry_run):
            raise InvalidInput("--json needs --yes or --dry-run.")

        async def count_and_purge(keiba: Keiba) -> cache_admin.PurgeReport:
            counted = await keiba.cache_admin.purge(purge_filter)
            if dry_run or not counted.matched:
                return counted
            if not yes:
                about = f"{_count_entries(counted.matched)} ({format_bytes(counted.stored_bytes)})"
                typer.confirm(f"Remove {about}?", abort=True, err=True)
            return await keiba.cache_admin.purge(purge_filter, dry_run=False)

        done = run_with_keiba(open_keiba, count_and_purge)
        if as_json:
            echo_json(done)
        elif done.dry_run:
            size = format_bytes(done.stored_bytes)
            matched = f"{_count_entries(done.matched)} ({size}) would be removed"
            typer.echo(matched if done.matched else "No matching entries.")
        else:
            typer.echo(f"{_count_entries(done.removed)} removed")


def _parse_age(text: str | None) -> float | None:
    if text is None:
        return None
    found = _AGE_PATTERN.fullmatch(text.strip().replace(" ", ""))
    if found is None:
        raise InvalidInput(f"Invalid age {text!r}. Use 90min, 12h, 3d or 2w.")
    return float(int(found[1]) * _SECONDS[found[2]])


def _count_entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _print_report(to: Console, report: cache_admin.CacheReport) -> None:
    more = "" if report.complete else " and more"
    print_title(to, f"{_count_entries(report.entries)}{more}, {format_bytes(report.stored_bytes)}")
    if report.hit_rate is not None:
        print_line(to, f"hit rate {format_percent_number(report.hit_rate)} %")
    to.print()
    _print_records(to, _KIND_COLUMNS, report.kinds)
    to.print()
    sites = [
        TableRow(
            (
                site.name,
                site.host,
                f"{site.requests_today:,}",
                text_or_dash(site.requests_left),
                "now" if site.next_at is None else format_timestamp(site.next_at),
                format_timestamp(site.paused_until),
            ),
            "yellow" if site.paused_until else "",
        )
        for site in report.sites
    ]
    print_table(to, _SITE_COLUMNS, sites)
    for site in report.sites:
        if site.paused_until is not None:
            print_warnings(to, (f"{site.host} is paused: {site.why_paused}",))
    to.print()
    print_line(to, report.terms, "dim")


def _print_cache_entries(to: Console, page: cache_admin.CachePage) -> None:
    if not page.entries:
        print_line(to, "No matching entries.")
        return
    _print_records(to, _ENTRY_COLUMNS, page.entries, lambda entry: "dim" if entry.expired else "")
    if page.position is not None:
        print_line(to, "More entries exist. Use a longer prefix or a higher --limit.", "dim")


def _print_payload(to: Console, payload: cache_admin.CachePayload) -> None:
    entry = payload.entry
    print_title(to, f"{entry.partition} {entry.sort}")
    chunks = f" in {entry.chunks} chunks" if entry.chunks else ""
    expiry = "expired" if entry.expired else "expires"
    text = f"{entry.kind}, {format_bytes(entry.stored_bytes)} {entry.storage}{chunks}"
    fetched, expires = format_timestamp(entry.fetched_at), format_timestamp(entry.expires_at)
    times = f"fetched {fetched}, {expiry} {expires}".replace(EMPTY, "at an unknown time")
    print_line(to, f"{text}; {times}")
    print_warnings(to, entry.warnings)
    typer.echo(payload.data_json or "The site has no such page.")


@dataclass(frozen=True, slots=True)
class _RaceOutput:
    """Output of `race`."""

    card: Card
    result: Sourced[RaceResult] | None
    preview: Preview | None


def commands(open_keiba: OpenKeiba) -> typer.Typer:
    """Return the commands; `open_keiba` is a context manager that opens the services."""
    group = typer.Typer(
        help="Japanese racing: cards, form, ranking, results.", no_args_is_help=True
    )
    _add_day(group, open_keiba)
    _add_race(group, open_keiba)
    _add_horse_and_jockey(group, open_keiba)
    _add_prefetch(group, open_keiba)
    _add_backtest(group, open_keiba)
    cache = typer.Typer(help="Cached pages.", no_args_is_help=True)
    _add_stats(cache, open_keiba)
    _add_inspect(cache, open_keiba)
    _add_purge(cache, open_keiba)
    group.add_typer(cache, name="cache")
    return group


def _add_day(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def day(
        race_date: Annotated[
            str | None,
            typer.Argument(metavar="DATE", help="Such as 20261115. Default: next racing day."),
        ] = None,
        *,
        circuit: CircuitOption = None,
        refresh: RefreshOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """List a day's races by track."""
        chosen = None if race_date is None else parse_date(race_date)

        async def find_day(keiba: Keiba) -> Day:
            on = chosen or await keiba.days.next_meeting(circuit) or today_in_japan(keiba.clock)
            return await keiba.days.day(on, circuit, refresh=refresh)

        _print_output(run_with_keiba(open_keiba, find_day), print_day, as_json=as_json)


def _add_race(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def race(
        race_id: Annotated[str, typer.Argument(help="Race id, listed by `day`.")],
        *,
        order: Annotated[CardOrder, typer.Option("--by", help="Order of the runners.")] = "rank",
        reasons: Annotated[
            int, typer.Option(min=0, max=18, help="Number of runners to explain.")
        ] = 3,
        result: Annotated[bool, typer.Option("--result", help="Include the result.")] = False,
        preview: Annotated[
            bool, typer.Option("--preview", help="Include a written preview.")
        ] = False,
        language: Annotated[Language, typer.Option(help="Language of reasons and preview.")] = "en",
        refresh: RefreshOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Show a race card: form, jockeys, probabilities, odds and reasons."""

        async def find_race(keiba: Keiba) -> _RaceOutput:
            with show_progress("fetching") as report:
                card = await keiba.cards.assemble(race_id, report, refresh=refresh)
                ended = await keiba.pages.result(race_id, refresh=refresh) if result else None
                wrote = await keiba.previews.write(race_id, language=language) if preview else None
            return _RaceOutput(card, ended, wrote)

        def show(to: Console, output: _RaceOutput) -> None:
            print_card(to, output.card, order=order, reasons=reasons, language=language)
            if output.result is not None:
                print_result(to, output.result)
            if output.preview is not None:
                print_preview(to, output.preview)

        _print_output(run_with_keiba(open_keiba, find_race), show, as_json=as_json)


def _add_horse_and_jockey(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def horse(
        horse_id: Annotated[str, typer.Argument(help="Horse id (10 characters).")],
        *,
        runs: Annotated[int, typer.Option(min=0, max=200, help="Number of past runs.")] = 10,
        pedigree: Annotated[bool, typer.Option("--pedigree", help="Include the pedigree.")] = False,
        refresh: RefreshOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Show a horse: profile, parents and past runs."""
        found = run_with_keiba(
            open_keiba, lambda keiba: keiba.pages.horse(horse_id, refresh=refresh)
        )
        show = partial(print_horse, runs=runs, pedigree=pedigree)
        _print_output(found, show, as_json=as_json)

    @group.command()
    def jockey(
        jockey_id: Annotated[str, typer.Argument(help="Jockey id (5 characters).")],
        *,
        refresh: RefreshOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Show a jockey's career and statistics by year."""
        found = run_with_keiba(
            open_keiba, lambda keiba: keiba.pages.jockey(jockey_id, refresh=refresh)
        )
        _print_output(found, print_jockey, as_json=as_json)


def _add_prefetch(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def prefetch(
        race_date: Annotated[str, typer.Argument(metavar="DATE", help="Such as 20261115.")],
        *,
        circuit: CircuitOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Fetch every card of a day. This takes an hour or more.

        Cached pages are not fetched again, so you can stop and resume.
        """
        on = parse_date(race_date)
        typer.echo(SITE_TERMS, err=True)

        async def fetch_cards(keiba: Keiba) -> PrefetchReport:
            with show_progress(f"{on:%Y%m%d}", lines=True) as report:
                return await keiba.prefetcher.prefetch(on, report, circuit)

        done = run_with_keiba(open_keiba, fetch_cards)
        _print_output(done, _print_prefetch, as_json=as_json)
        if done.failed:
            raise typer.Exit(SourceFailed.exit_code)


def _add_backtest(group: typer.Typer, open_keiba: OpenKeiba) -> None:
    @group.command()
    def backtest(
        first: Annotated[str, typer.Argument(metavar="FIRST", help="First day, such as 20261109.")],
        last: Annotated[str, typer.Argument(metavar="LAST", help="Last day.")],
        *,
        as_json: JsonOption = False,
    ) -> None:
        """Test the ranking against cached results, without fetching."""
        days = parse_date(first), parse_date(last)
        tested = run_with_keiba(open_keiba, lambda keiba: keiba.backtester.run(*days))
        _print_output(tested, print_backtest, as_json=as_json)


def _print_prefetch(to: Console, done: PrefetchReport) -> None:
    progress = done.progress
    pages = f"{progress.cached} pages cached, {progress.fetched} fetched"
    text = f"{progress.done} of {done.races} races, {pages}"
    text = f"{text}, {progress.failed} failed" if progress.failed else text
    print_line(to, text if done.races else "No racing on this day.")
    print_warnings(to, (f"{race_id}: {why}" for race_id, why in done.failed))
