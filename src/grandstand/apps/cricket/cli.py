"""Commands: `grandstand cricket …`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from grandstand.apps.cricket.domain.display import swift_source
from grandstand.apps.cricket.domain.match_events import FilterReason, MatchEvent
from grandstand.apps.cricket.domain.matches import BALLS_PER_OVER, Side
from grandstand.apps.cricket.services import Cricket
from grandstand.apps.cricket.services.polling.match_ticks import EventPage, EventRecord
from grandstand.apps.cricket.services.polling.sync import SyncResult
from grandstand.apps.cricket.services.queries.admin import ReplayStep
from grandstand.apps.cricket.services.queries.fixtures import Match
from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.terminal import ColumnSpec, TableRow, console, echo_json, print_table

T = TypeVar("T")
OpenServices = Callable[[], AbstractAsyncContextManager[Cricket]]

_MAX_FILE_BYTES: Final = 200_000_000
_FILTER_LABELS: Final[dict[FilterReason, str]] = {
    "cooldown": "in cooldown",
    "stale": "too late",
    "outranked": "outranked",
}
_MATCH_COLUMNS: Final = (
    ColumnSpec("match"),
    ColumnSpec("start (UTC)", from_width=60),
    ColumnSpec("teams"),
    ColumnSpec("score"),
    ColumnSpec("status", from_width=70),
    ColumnSpec("league", from_width=110),
)
_EVENT_COLUMNS: Final = (
    ColumnSpec("time (UTC)", from_width=60),
    ColumnSpec("over", right=True),
    ColumnSpec("event"),
    ColumnSpec("text"),
    ColumnSpec("pushed", from_width=70),
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="Maximum number.")]


def commands(opened: OpenServices) -> typer.Typer:
    """Return the commands; `opened` opens the services for the length of a block."""
    group = typer.Typer(help="Live scores, event detection and push.", no_args_is_help=True)
    _add_matches(group, opened)
    _add_events(group, opened)
    _add_replay(group, opened)
    _add_sync(group, opened)

    @group.command()
    def swift() -> None:
        """Print the Swift types of the Live Activity."""
        typer.echo(swift_source(), nl=False)

    group.add_typer(_push_commands(opened), name="push")
    return group


def _add_matches(group: typer.Typer, opened: OpenServices) -> None:
    @group.command()
    def matches(
        *,
        league: Annotated[str | None, typer.Option("--league", help="League id or code.")] = None,
        status: Annotated[
            Literal["upcoming", "live", "completed"] | None, typer.Option("--status")
        ] = None,
        limit: Limit = 50,
        as_json: AsJson = False,
    ) -> None:
        """List recent, live and upcoming matches with their scores."""

        async def read(cricket: Cricket) -> tuple[Match, ...]:
            page = await cricket.fixtures.page(league=league, status=status, limit=limit)
            return page.matches

        found = _run(opened, read)
        echo_json(found) if as_json else _print_matches(console(), found)


def _add_events(group: typer.Typer, opened: OpenServices) -> None:
    @group.command()
    def events(
        match: Annotated[str, typer.Argument(metavar="MATCH", help="Match id.")],
        *,
        pushed: Annotated[bool, typer.Option("--pushed", help="Only pushed events.")] = False,
        limit: Limit = 200,
        as_json: AsJson = False,
    ) -> None:
        """Show the detected events of a match, and why some were not pushed."""

        async def read(cricket: Cricket) -> tuple[Match, EventPage]:
            return (
                await cricket.fixtures.get(match),
                await cricket.event_bus.page(match, limit=limit),
            )

        found, page = _run(opened, read)
        shown = tuple(event for event in page.events if not (pushed and event.filtered))
        if as_json:
            echo_json([{"seq": event.seq} | _event_json(event.event_key, event) for event in shown])
            return
        output = console()
        title = f"{found.home.name} v {found.away.name}: {_format_score(found)}"
        output.print(title, style="bold")
        _print_events(output, EventPage(shown))


def _add_replay(group: typer.Typer, opened: OpenServices) -> None:
    @group.command()
    def replay(
        file: Annotated[
            Path, typer.Argument(help="Recorded feed responses, or a Cricsheet match, as JSON.")
        ],
        *,
        every: Annotated[
            int, typer.Option("--every", min=1, max=60, help="Process every n-th ball.")
        ] = 1,
        filtered: Annotated[
            bool, typer.Option("--all", help="Include events that would not be pushed.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Detect the events of a recorded match; nothing is stored or pushed."""
        content = _read_file(file)

        async def detect(cricket: Cricket) -> int:
            steps = cricket.replays.detect(content, every)
            return _print_replay(steps, filtered=filtered, as_json=as_json)

        if not _run(opened, detect) and not as_json:
            typer.echo("No events to push.")


def _add_sync(group: typer.Typer, opened: OpenServices) -> None:
    @group.command()
    def sync(*, as_json: AsJson = False) -> None:
        """Sync leagues, teams, season tables and fixtures from the feed."""

        async def run(cricket: Cricket) -> tuple[SyncResult, SyncResult]:
            reference = await cricket.league_sync.run() + await cricket.team_sync.run()
            return reference, await cricket.fixture_sync.run()

        reference, fixtures = _run(opened, run)
        if as_json:
            echo_json({"reference": reference, "fixtures": fixtures})
            return
        for name, result in (("leagues, teams and table rows", reference), ("matches", fixtures)):
            typer.echo(f"{result.found} {name} found, {result.written} written")
            for warning in result.warnings:
                typer.echo(f"Warning: {warning}", err=True)


def _push_commands(opened: OpenServices) -> typer.Typer:
    group = typer.Typer(help="Push notifications.", no_args_is_help=True)

    @group.callback()
    def push() -> None:
        """Push notifications."""

    @group.command()
    def test(
        *,
        user: Annotated[
            str, typer.Option("--user", help="User id whose devices get the push.")
        ] = LOCAL_OWNER.user_id,
        as_json: AsJson = False,
    ) -> None:
        """Push a test notification to your devices and print the results."""

        async def send(cricket: Cricket) -> Mapping[str, str]:
            return await cricket.announcements.send_test(user)

        results = _run(opened, send)
        if as_json:
            echo_json(dict(results))
            return
        for device_id, outcome in results.items():
            typer.echo(f"{device_id}: {outcome}")

    return group


def _run(opened: OpenServices, action: Callable[[Cricket], Awaitable[T]]) -> T:
    async def run() -> T:
        async with opened() as cricket:
            return await action(cricket)

    return asyncio.run(run())


def _read_file(file: Path) -> bytes:
    try:
        if file.stat().st_size > _MAX_FILE_BYTES:
            raise InvalidInput(f"{file} is larger than {_MAX_FILE_BYTES:,} bytes.")
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror}.") from error


def _print_matches(output: Console, matches: Sequence[Match]) -> None:
    if not matches:
        output.print("No matches. Run `grandstand cricket sync`.")
        return
    rows = [
        TableRow(
            (
                match.match_id,
                f"{match.starts_at:%d %b %H:%M}",
                f"{_team_name(match.home)} v {_team_name(match.away)}",
                _format_score(match),
                match.status,
                match.league_name or match.league_code,
            ),
            {"live": "bold", "completed": "dim", "upcoming": ""}[match.stage],
        )
        for match in matches
    ]
    print_table(output, _MATCH_COLUMNS, rows)


def _print_events(output: Console, page: EventPage) -> None:
    """Print events, newest last."""
    if not page.events:
        output.print("No events yet.")
        return
    rows = [
        TableRow(
            (
                f"{event.at:%d %b %H:%M:%S}",
                format_over(event.inning, event.position),
                event.kind,
                event.text,
                _push_label(event.filtered, alert=event.alert),
            ),
            "dim" if event.filtered else "",
        )
        for event in reversed(page.events)
    ]
    print_table(output, _EVENT_COLUMNS, rows)


def _print_replay(steps: Iterable[ReplayStep], *, filtered: bool, as_json: bool) -> int:
    """Print the events of a replay and return their number."""
    events = (
        (step.match_id, event)
        for step in steps
        for event in step.events
        if filtered or not event.filtered
    )
    if as_json:
        found = [
            {"matchId": match_id} | _event_json(event.key, event) for match_id, event in events
        ]
        echo_json(found)
        return len(found)
    output, count = console(), 0
    for _, event in events:
        line = f"{format_over(event.inning, event.position):>8}  {event.kind:<18} {event.text}"
        if filtered:
            line = f"{line}  [{_push_label(event.filtered, alert=event.alert)}]"
        output.print(escape(line), style="dim" if event.filtered else None, soft_wrap=True)
        count += 1
    return count


def _event_json(key: str, event: EventRecord | MatchEvent) -> dict[str, object]:
    names = ("kind", "text", "inning", "position", "priority", "alert", "filtered", "at")
    values = {name: getattr(event, name) for name in names if hasattr(event, name)}
    return {"key": key, **values}


def format_over(inning: int, position: int) -> str:
    """Return the place in a match, such as 2/17.3: innings, over and ball."""
    if not position:
        return f"{inning}/0.0"
    over, ball = divmod(position - 1, BALLS_PER_OVER)
    return f"{inning}/{over}.{ball + 1}"


def _push_label(filtered: FilterReason | None, *, alert: bool) -> str:
    if filtered is not None:
        return _FILTER_LABELS[filtered]
    return "pushed, alerted" if alert else "pushed"


def _format_score(match: Match) -> str:
    scores = [
        f"{_team_code(match, score.team_id)} {score.score}/{score.wickets} ({score.overs})"
        for score in match.innings
    ]
    return ", ".join(scores) or "–"


def _team_name(side: Side) -> str:
    return side.name or side.code or "?"


def _team_code(match: Match, team_id: str) -> str:
    side = match.home if match.home.team_id == team_id else match.away
    return side.code or side.name[:3].upper()
