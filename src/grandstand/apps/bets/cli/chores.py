"""Kept here: the commands that do by hand what jobs do, and take in files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import typer

from grandstand.apps.bets.cli.asking import (
    AsJson,
    EverySport,
    Opened,
    Sport,
    read_bytes,
    sport_of,
    sports_of,
    with_bets,
)
from grandstand.apps.bets.cli.telling import progress_bar, warn
from grandstand.apps.bets.cli.words import count
from grandstand.apps.bets.service import Analysed, Bets, Collected, Verified
from grandstand.base.errors import GrandstandError
from grandstand.kit.terminal import echo_json

T = TypeVar("T")
What: TypeAlias = Literal["odds", "props", "stats", "schedules", "injuries"]
Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="One or more files.")]


def add_chores(group: typer.Typer, opened: Opened) -> None:
    """Add the commands that collect, predict, settle and take in files."""
    _add_collect(group, opened)
    _add_analyse(group, opened)
    _add_settle(group, opened)
    _add_import(group, opened)
    _add_stats_import(group, opened)


@dataclass(frozen=True, slots=True)
class _Done(Generic[T]):
    """What came of some sports, and which of them failed."""

    found: list[T]
    failed: list[tuple[str, GrandstandError]]

    def end(self) -> None:
        """Say what failed; the command fails with it."""
        for sport, fault in self.failed:
            typer.echo(f"! {sport}: {fault}", err=True)
        if self.failed:
            raise typer.Exit(self.failed[0][1].exit_code)


async def _each(names: tuple[str, ...], about: str, ask: Callable[[str], Awaitable[T]]) -> _Done[T]:
    """Go through sports; one that fails does not keep the others back, unless all do."""
    done: _Done[T] = _Done([], [])
    with progress_bar(about) as told:
        for at, name in enumerate(names):
            told(at, len(names))
            try:
                done.found.append(await ask(name))
            except GrandstandError as fault:
                done.failed.append((name, fault))
    if done.failed and not done.found:
        raise done.failed[0][1]
    return done


def _add_collect(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def collect(
        what: Annotated[What, typer.Argument(help="What to ask the feeds for.")] = "odds",
        *,
        sport: EverySport = None,
        as_json: AsJson = False,
    ) -> None:
        """Ask the feeds now: odds, props, stats, schedules or injuries."""

        async def done(bets: Bets) -> _Done[Collected]:
            ask: dict[What, Callable[[str], Awaitable[Collected]]] = {
                "odds": bets.collect_odds,
                "props": bets.collect_props,
                "stats": bets.collect_stats,
                "schedules": bets.collect_schedules,
                "injuries": bets.collect_injuries,
            }
            names = sports_of(bets, sport)
            if what == "props" and sport is None:
                names = tuple(each for each in names if each in bets.settings.prop_sports)
            return await _each(names, f"collecting {what}", ask[what])

        collected = with_bets(opened, done)
        if as_json:
            echo_json(collected.found)
        else:
            for each in collected.found:
                _echo(each, what)
        collected.end()


def _echo(done: Collected, what: str) -> None:
    cost = f", {count(done.credits, 'credit')}" if done.credits else ""
    typer.echo(f"{done.sport}: {what}, {done.seen:,} seen, {done.written:,} written{cost}")
    warn(done.refused)


def _add_analyse(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def analyse(*, sport: EverySport = None, as_json: AsJson = False) -> None:
        """Let every model predict the games to come, as the job does."""

        async def done(bets: Bets) -> _Done[Analysed]:
            return await _each(sports_of(bets, sport), "predicting", bets.analyse)

        analysed = with_bets(opened, done)
        if as_json:
            echo_json(analysed.found)
        else:
            for each in analysed.found:
                told = f"{count(each.games, 'game')}, {count(each.published, 'prediction')}"
                typer.echo(f"{each.sport}: {told} published, {each.frozen} frozen")
        analysed.end()


def _add_settle(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def settle(*, sport: EverySport = None, as_json: AsJson = False) -> None:
        """Ask for scores, verify predictions and settle every bet, as the job does."""

        async def done(bets: Bets) -> _Done[Verified]:
            return await _each(sports_of(bets, sport), "settling", bets.collect_outcomes)

        verified = with_bets(opened, done)
        if as_json:
            echo_json(verified.found)
        else:
            for each in verified.found:
                _echo_verified(each)
        verified.end()


def _echo_verified(done: Verified) -> None:
    again = f", {done.corrected} corrected" if done.corrected else ""
    told = f"{count(done.completed, 'result')}{again}"
    bets = f"{count(done.bets, 'bet')} of Benny's and {done.wagers} of people settled"
    void = f", {done.voided} void" if done.voided else ""
    typer.echo(
        f"{done.sport}: {told}, {count(done.predictions, 'prediction')} verified, {bets}{void}"
    )
    warn(done.refused)


def _add_import(group: typer.Typer, opened: Opened) -> None:
    @group.command("import")
    def import_seasons(
        files: Files,
        *,
        sport: Annotated[
            str, typer.Option("--sport", "-s", help="The sport the files are of.")
        ] = "soccer_epl",
        as_json: AsJson = False,
    ) -> None:
        """Take in seasons as football-data.co.uk writes them: results and prices.

        The same file again writes nothing.
        """
        contents = [(file, read_bytes(file)) for file in files]

        async def done(bets: Bets) -> list[Collected]:
            name, found = sport_of(bets, sport), []
            with progress_bar("taking in") as told:
                for at, (file, content) in enumerate(contents):
                    told(at, len(contents))
                    found.append(await bets.import_season(name, file.name, content))
            return found

        _echo_files(files, with_bets(opened, done), as_json=as_json)


def _add_stats_import(group: typer.Typer, opened: Opened) -> None:
    @group.command("stats-import")
    def stats_import(files: Files, *, sport: Sport = None, as_json: AsJson = False) -> None:
        """Take in files of figures, told by name: team_stats, player_stats, schedule, injuries."""
        contents = [(file, read_bytes(file)) for file in files]

        async def done(bets: Bets) -> list[Collected]:
            name = sport_of(bets, sport)
            return [await bets.import_stats(name, file.name, data) for file, data in contents]

        _echo_files(files, with_bets(opened, done), as_json=as_json)


def _echo_files(files: list[Path], done: list[Collected], *, as_json: bool) -> None:
    if as_json:
        echo_json(done)
        return
    for file, each in zip(files, done, strict=True):
        typer.echo(f"{file.name}: {each.sport}, {each.seen:,} seen, {each.written:,} written")
        warn(each.refused)
