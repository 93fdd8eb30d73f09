"""Kept here: `grandstand cricket …`, one function a command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import typer

from grandstand.apps.cricket.cli.printing import (
    plain_event,
    print_events,
    print_look,
    print_matches,
    score_text,
)
from grandstand.apps.cricket.model.errors import RecordingUnreadable
from grandstand.apps.cricket.model.swift import swift_source
from grandstand.apps.cricket.service import Cricket, EventPage, LoggedEvent, MatchView, Synced
from grandstand.kit.terminal import console, echo_json
from grandstand.kit.who.caller import LOCAL_OWNER, Caller

T = TypeVar("T")
Opened = Callable[[], AbstractAsyncContextManager[Cricket]]

_MOST: Final = 500
_LARGEST_BYTES: Final = 200_000_000

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=_MOST, help="How many at most.")]


def commands(opened: Opened) -> typer.Typer:
    """Make cricket's commands; `opened` opens the service for the length of a block."""
    group = typer.Typer(help="Matches ball by ball, and phones that follow.", no_args_is_help=True)
    _add_matches(group, opened)
    _add_events(group, opened)
    _add_replay(group, opened)
    _add_sync(group, opened)
    _add_swift(group)
    group.add_typer(_push_commands(opened), name="push")
    return group


def _add_matches(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def matches(
        *,
        league: Annotated[str | None, typer.Option("--league", help="Its id or code.")] = None,
        status: Annotated[
            Literal["upcoming", "live", "completed"] | None, typer.Option("--status")
        ] = None,
        limit: Limit = 50,
        as_json: AsJson = False,
    ) -> None:
        """List matches of the days around now, with how they stand."""

        async def found(cricket: Cricket) -> tuple[MatchView, ...]:
            page = await cricket.matches(league=league, status=status, limit=limit)
            return page.matches

        listed = _with(opened, found)
        echo_json(listed) if as_json else print_matches(console(), listed)


def _add_events(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def events(
        match: Annotated[str, typer.Argument(metavar="MATCH", help="The number of a match.")],
        *,
        told: Annotated[bool, typer.Option("--told", help="Only what was told.")] = False,
        limit: Limit = 200,
        as_json: AsJson = False,
    ) -> None:
        """Show what was detected in a match, and why some of it was not told."""

        async def found(cricket: Cricket) -> tuple[MatchView, EventPage]:
            return await cricket.match(match), await cricket.events(match, limit=limit)

        view, page = _with(opened, found)
        kept = tuple(each for each in page.events if not (told and each.filtered))
        if as_json:
            echo_json([_plain(each) for each in kept])
            return
        to = console()
        to.print(f"{view.home.name} v {view.away.name}: {score_text(view)}", style="bold")
        print_events(to, kept)


def _add_replay(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def replay(
        file: Annotated[
            Path, typer.Argument(help="Answers of the feed, or a match of cricsheet's, as JSON.")
        ],
        *,
        every: Annotated[
            int, typer.Option("--every", min=1, max=60, help="Look at every so many balls.")
        ] = 1,
        filtered: Annotated[
            bool, typer.Option("--all", help="Also what would not have been told.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Look through a recorded match and say what would be told; nothing is kept or pushed."""
        content = _read(file)

        async def looked(cricket: Cricket) -> int:
            return _looked(cricket, content, every=every, filtered=filtered, as_json=as_json)

        count = _with(opened, looked)
        if not count and not as_json:
            typer.echo("Nothing happened that is worth telling.")


def _add_sync(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def sync(*, as_json: AsJson = False) -> None:
        """Read leagues, teams and the matches of the days around now from the feed."""

        async def read(cricket: Cricket) -> tuple[Synced, Synced]:
            return await cricket.sync_reference(), await cricket.sync_fixtures()

        reference, fixtures = _with(opened, read)
        if as_json:
            echo_json({"reference": reference, "fixtures": fixtures})
            return
        for name, done in (("leagues, teams and tables", reference), ("matches", fixtures)):
            typer.echo(f"{done.found} {name} found, {done.written} written")
            for warning in done.warnings:
                typer.echo(f"! {warning}", err=True)


def _add_swift(group: typer.Typer) -> None:
    @group.command()
    def swift() -> None:
        """Print the Swift file an app decodes pushes with."""
        typer.echo(swift_source(), nl=False)


def _push_commands(opened: Opened) -> typer.Typer:
    group = typer.Typer(help="Pushes to phones.", no_args_is_help=True)

    @group.callback()
    def push() -> None:
        """Pushes to phones."""

    @group.command()
    def test(
        *,
        user: Annotated[
            str, typer.Option("--user", help="Whose devices: a person's id.")
        ] = LOCAL_OWNER.user_id,
        as_json: AsJson = False,
    ) -> None:
        """Push an alert to one's own devices, and say what came of it."""

        async def pushed(cricket: Cricket) -> Mapping[str, str]:
            return await cricket.push_test(_caller(user))

        found = _with(opened, pushed)
        if as_json:
            echo_json(dict(found))
            return
        for device_id, outcome in found.items():
            typer.echo(f"{device_id}: {outcome}")

    return group


def _with(opened: Opened, act: Callable[[Cricket], Awaitable[T]]) -> T:
    async def done() -> T:
        async with opened() as cricket:
            return await act(cricket)

    return asyncio.run(done())


def _looked(cricket: Cricket, content: bytes, *, every: int, filtered: bool, as_json: bool) -> int:
    looks = cricket.replaying.look_through(content, every)
    if as_json:
        found = [
            plain_event(look.match_id, event)
            for look in looks
            for event in look.events
            if filtered or not event.filtered
        ]
        echo_json(found)
        return len(found)
    to = console()
    return sum(print_look(to, look, filtered=filtered) for look in looks)


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            raise RecordingUnreadable(f"{file} is larger than {_LARGEST_BYTES:,} bytes")
        return file.read_bytes()
    except OSError as fault:
        raise RecordingUnreadable(f"{file} cannot be read: {fault.strerror}") from fault


def _caller(user_id: str) -> Caller:
    return Caller(user_id, user_id, frozenset({"user"}), "owner")


def _plain(event: LoggedEvent) -> dict[str, object]:
    return {
        "seq": event.seq,
        "key": event.event_key,
        "kind": event.kind,
        "text": event.text,
        "inning": event.inning,
        "position": event.position,
        "priority": event.priority,
        "alert": event.alert,
        "filtered": event.filtered,
        "at": event.at,
    }
