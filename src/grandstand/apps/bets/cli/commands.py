"""All commands of bets, and those that run jobs and import files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import typer

from grandstand.apps.bets.cli import console as cli
from grandstand.apps.bets.cli.games import add_game_commands, tool_commands
from grandstand.apps.bets.cli.models import (
    add_dataset_commands,
    add_model_commands,
    add_scoreboard_commands,
)
from grandstand.apps.bets.cli.wagers import add_benny, add_wagers
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.ingest.odds_collector import CollectionReport
from grandstand.apps.bets.services.ingest.outcome_collector import OutcomeReport
from grandstand.apps.bets.services.predictions import AnalysisReport
from grandstand.core.errors import GrandstandError
from grandstand.kit.terminal import echo_json

T = TypeVar("T")
What: TypeAlias = Literal["odds", "props", "stats", "schedules", "injuries"]
Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="One or more files.")]


@dataclass(frozen=True, slots=True)
class _SportResults(Generic[T]):
    """Results by sport, and the sports that failed."""

    found: list[T]
    failed: list[tuple[str, GrandstandError]]

    def report(self, echo: Callable[[T], None], *, as_json: bool) -> None:
        """Print everything; after a failure, exit with the code of the first one."""
        if as_json:
            echo_json(self.found)
        else:
            for result in self.found:
                echo(result)
        for sport, fault in self.failed:
            typer.echo(f"! {sport}: {fault}", err=True)
        if self.failed:
            raise typer.Exit(self.failed[0][1].exit_code)


async def _each(
    names: tuple[str, ...], about: str, action: Callable[[str], Awaitable[T]]
) -> _SportResults[T]:
    """Run an action for each sport. A failure does not stop the others, unless all fail."""
    done: _SportResults[T] = _SportResults([], [])
    with cli.progress_bar(about) as progress:
        for at, name in enumerate(names):
            progress(at, len(names))
            try:
                done.found.append(await action(name))
            except GrandstandError as fault:
                done.failed.append((name, fault))
    if done.failed and not done.found:
        raise done.failed[0][1]
    return done


def _add_collect(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def collect(
        what: Annotated[What, typer.Argument(help="What to collect.")] = "odds",
        *,
        sport: cli.EverySport = None,
        as_json: cli.AsJson = False,
    ) -> None:
        """Collect odds, props, stats, schedules or injuries now."""

        async def run(bets: Bets) -> _SportResults[CollectionReport]:
            actions: dict[What, Callable[[str], Awaitable[CollectionReport]]] = {
                "odds": bets.odds_collector.collect,
                "props": bets.odds_collector.collect_props,
                "stats": bets.stats_collector.collect_stats,
                "schedules": bets.stats_collector.collect_schedules,
                "injuries": bets.stats_collector.collect_injuries,
            }
            names = cli.resolve_sports(bets, sport)
            if what == "props" and sport is None:
                names = tuple(name for name in names if name in bets.settings.prop_sports)
            return await _each(names, f"collecting {what}", actions[what])

        def echo(done: CollectionReport) -> None:
            cost = f", {cli.format_count(done.credits, 'credit')}" if done.credits else ""
            counts = f"{done.received:,} received, {done.written:,} written"
            typer.echo(f"{done.sport}: {what}, {counts}{cost}")
            cli.warn(done.rejected)

        with_bets(run).report(echo, as_json=as_json)


def _add_analyze(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def analyze(*, sport: cli.EverySport = None, as_json: cli.AsJson = False) -> None:
        """Run all models for upcoming games, as the job does."""
        done = with_bets(
            lambda bets: _each(
                cli.resolve_sports(bets, sport), "predicting", bets.analysis_generator.run
            )
        )
        done.report(_echo_analysis, as_json=as_json)

    @group.command()
    def settle(*, sport: cli.EverySport = None, as_json: cli.AsJson = False) -> None:
        """Collect scores, verify predictions and settle bets, as the job does."""
        done = with_bets(
            lambda bets: _each(
                cli.resolve_sports(bets, sport), "settling", bets.outcome_collector.collect
            )
        )
        done.report(_echo_outcomes, as_json=as_json)


def _echo_analysis(done: AnalysisReport) -> None:
    games, picks = cli.format_count(done.games, "game"), cli.format_count(done.published, "pick")
    typer.echo(f"{done.sport}: {games}, {picks} published, {done.frozen} frozen")


def _echo_outcomes(done: OutcomeReport) -> None:
    again = f", {done.corrected} corrected" if done.corrected else ""
    text = f"{cli.format_count(done.completed, 'result')}{again}"
    bets = f"{cli.format_count(done.bets, 'bet')} of Benny and {done.wagers} of users settled"
    void = f", {done.voided} void" if done.voided else ""
    verified = cli.format_count(done.predictions, "prediction")
    typer.echo(f"{done.sport}: {text}, {verified} verified, {bets}{void}")
    cli.warn(done.rejected)


def _add_import(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command("import")
    def import_seasons(
        files: Files,
        *,
        sport: Annotated[
            str, typer.Option("--sport", "-s", help="The sport of the files.")
        ] = "soccer_epl",
        as_json: cli.AsJson = False,
    ) -> None:
        """Import seasons from football-data.co.uk: results and odds.

        Importing the same file again changes nothing.
        """
        contents = [(file, cli.read_bytes(file)) for file in files]

        async def run(bets: Bets) -> list[CollectionReport]:
            name, found = cli.resolve_sport(bets, sport), []
            with cli.progress_bar("importing") as progress:
                for at, (file, content) in enumerate(contents):
                    progress(at, len(contents))
                    found.append(await bets.file_importer.import_season(name, file.name, content))
            return found

        _echo_files(files, with_bets(run), as_json=as_json)

    @group.command("stats-import")
    def stats_import(files: Files, *, sport: cli.Sport = None, as_json: cli.AsJson = False) -> None:
        """Import team_stats, player_stats, schedule or injuries files."""
        contents = [(file, cli.read_bytes(file)) for file in files]

        async def run(bets: Bets) -> list[CollectionReport]:
            name = cli.resolve_sport(bets, sport)
            return [
                await bets.file_importer.import_stats(name, file.name, data)
                for file, data in contents
            ]

        _echo_files(files, with_bets(run), as_json=as_json)


def _echo_files(files: list[Path], done: list[CollectionReport], *, as_json: bool) -> None:
    if as_json:
        echo_json(done)
        return
    for file, report in zip(files, done, strict=True):
        typer.echo(
            f"{file.name}: {report.sport}, {report.received:,} received, {report.written:,} written"
        )
        cli.warn(report.rejected)


def commands(open_bets: cli.OpenBets) -> typer.Typer:
    """Return the commands; `open_bets` opens the services for a block."""
    with_bets = cli.BetsRunner(open_bets)
    group = typer.Typer(help="Games, odds, models, Benny and your bets.", no_args_is_help=True)
    add_game_commands(group, with_bets)
    add_scoreboard_commands(group, with_bets)
    add_model_commands(group, with_bets)
    add_dataset_commands(group, with_bets)
    add_benny(group, with_bets)
    add_wagers(group, with_bets)
    group.add_typer(tool_commands(with_bets), name="tools")
    _add_collect(group, with_bets)
    _add_analyze(group, with_bets)
    _add_import(group, with_bets)
    return group
