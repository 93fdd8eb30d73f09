"""Kept here: `grandstand keiba …`, one function a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import typer

from grandstand.apps.keiba.cli.accounts import print_backtest
from grandstand.apps.keiba.cli.asking import Anew, AsJson, Only, Opened, day_of, with_keiba
from grandstand.apps.keiba.cli.cache import cache_commands
from grandstand.apps.keiba.cli.people import print_horse, print_jockey
from grandstand.apps.keiba.cli.races import (
    Order,
    print_card,
    print_day,
    print_preview,
    print_result,
)
from grandstand.apps.keiba.cli.telling import progress_bar, warn
from grandstand.apps.keiba.model import RaceResult
from grandstand.apps.keiba.service import (
    TERMS,
    Card,
    Day,
    Keiba,
    Language,
    Preview,
    Sourced,
    Warmed,
)
from grandstand.base.errors import SourceFailed
from grandstand.kit.terminal import console, echo_json, say

_MOST_RUNS: Final = 200


@dataclass(frozen=True, slots=True)
class _Race:
    """What `race` shows."""

    card: Card
    result: Sourced[RaceResult] | None
    preview: Preview | None


def commands(opened: Opened) -> typer.Typer:
    """Make keiba's commands; `opened` opens the service for the length of a block."""
    group = typer.Typer(
        help="Japanese racing: cards, form, ranking, results.", no_args_is_help=True
    )
    _add_day(group, opened)
    _add_race(group, opened)
    _add_people(group, opened)
    _add_warm(group, opened)
    _add_backtest(group, opened)
    group.add_typer(cache_commands(opened), name="cache")
    return group


def _add_day(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def day(
        race_date: Annotated[
            str | None,
            typer.Argument(metavar="DATE", help="Such as 20261115; the next racing without."),
        ] = None,
        *,
        circuit: Only = None,
        anew: Anew = False,
        as_json: AsJson = False,
    ) -> None:
        """List a day's races by track, with their post times."""
        chosen = None if race_date is None else day_of(race_date)

        async def found(keiba: Keiba) -> Day:
            on = chosen or await keiba.next_meeting(circuit) or keiba.today()
            return await keiba.day(on, circuit, anew=anew)

        races = with_keiba(opened, found)
        echo_json(races) if as_json else print_day(console(), races)


def _add_race(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def race(
        race_id: Annotated[str, typer.Argument(help="A race's id, as `day` lists it.")],
        *,
        order: Annotated[Order, typer.Option("--by", help="In which order.")] = "rank",
        reasons: Annotated[
            int, typer.Option(min=0, max=18, help="For how many it is said why they rank so.")
        ] = 3,
        result: Annotated[bool, typer.Option("--result", help="Also how it ended.")] = False,
        preview: Annotated[bool, typer.Option("--preview", help="Also a written preview.")] = False,
        language: Annotated[Language, typer.Option(help="Of reasons and of the preview.")] = "en",
        anew: Anew = False,
        as_json: AsJson = False,
    ) -> None:
        """Show a card: every runner's form, jockey, chances, odds, and why."""

        async def found(keiba: Keiba) -> _Race:
            with progress_bar("gathering") as told:
                card = await keiba.card(race_id, told, anew=anew)
                ended = await keiba.result(race_id, anew=anew) if result else None
                wrote = await keiba.preview(race_id, language=language) if preview else None
            return _Race(card, ended, wrote)

        shown = with_keiba(opened, found)
        if as_json:
            echo_json(shown)
            return
        to = console()
        print_card(to, shown.card, order=order, reasons=reasons, language=language)
        if shown.result is not None:
            print_result(to, shown.result)
        if shown.preview is not None:
            print_preview(to, shown.preview)


def _add_people(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def horse(
        horse_id: Annotated[str, typer.Argument(help="A horse's id, ten letters or digits.")],
        *,
        runs: Annotated[int, typer.Option(min=0, max=_MOST_RUNS, help="How many runs.")] = 10,
        pedigree: Annotated[bool, typer.Option("--pedigree", help="Also its ancestors.")] = False,
        anew: Anew = False,
        as_json: AsJson = False,
    ) -> None:
        """Show a horse: who it is, its parents and its runs."""
        found = with_keiba(opened, lambda keiba: keiba.horse(horse_id, anew=anew))
        if as_json:
            echo_json(found)
        else:
            print_horse(console(), found, runs=runs, pedigree=pedigree)

    @group.command()
    def jockey(
        jockey_id: Annotated[str, typer.Argument(help="A jockey's id, five letters or digits.")],
        *,
        anew: Anew = False,
        as_json: AsJson = False,
    ) -> None:
        """Show a jockey's career and years."""
        found = with_keiba(opened, lambda keiba: keiba.jockey(jockey_id, anew=anew))
        echo_json(found) if as_json else print_jockey(console(), found)


def _add_warm(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def warm(
        race_date: Annotated[str, typer.Argument(metavar="DATE", help="Such as 20261115.")],
        *,
        circuit: Only = None,
        as_json: AsJson = False,
    ) -> None:
        """Gather every card of a day, gently: this takes an hour or more.

        What is kept is not asked for again, so that it can be stopped and begun anew.
        """
        on = day_of(race_date)
        typer.echo(TERMS, err=True)

        async def gathered(keiba: Keiba) -> Warmed:
            with progress_bar(f"{on:%Y%m%d}", lines=True) as told:
                return await keiba.warm(on, told, circuit)

        done = with_keiba(opened, gathered)
        if as_json:
            echo_json(done)
        else:
            to = console()
            say(to, _warmed(done))
            warn(to, (f"{race_id}: {why}" for race_id, why in done.failed))
        if done.failed:
            raise typer.Exit(SourceFailed.exit_code)


def _add_backtest(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def backtest(
        first: Annotated[str, typer.Argument(metavar="FIRST", help="A day, such as 20261109.")],
        last: Annotated[str, typer.Argument(metavar="LAST", help="That day or a later one.")],
        *,
        as_json: AsJson = False,
    ) -> None:
        """Hold the ranking against the results that are kept, fetching nothing."""
        days = day_of(first), day_of(last)
        tested = with_keiba(opened, lambda keiba: keiba.backtest(*days))
        echo_json(tested) if as_json else print_backtest(console(), tested)


def _warmed(done: Warmed) -> str:
    if not done.races:
        return "Nobody races on this day."
    counts = done.counts
    told = (
        f"{counts.done} of {done.races} races, {counts.cached} pages kept, {counts.fetched} fetched"
    )
    return f"{told}, {counts.failed} failed" if counts.failed else told
