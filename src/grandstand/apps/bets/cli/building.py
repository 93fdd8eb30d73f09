"""Kept here: the commands around models of one's own, and walks over the past."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli.asking import (
    OWNER,
    AsJson,
    Opened,
    Sport,
    User,
    Yes,
    caller_of,
    day_of,
    decimal_of,
    sport_of,
    weights_of,
    with_bets,
)
from grandstand.apps.bets.cli.scoring import print_performance
from grandstand.apps.bets.cli.telling import progress_bar
from grandstand.apps.bets.cli.words import NONE, count, number, percent, signed
from grandstand.apps.bets.service import BacktestView, Bets, ModelDraft, ModelView, WalkWish
from grandstand.base.errors import InvalidInput
from grandstand.kit.terminal import (
    Column,
    Line,
    console,
    echo_json,
    print_found,
    print_grid,
    say,
    title,
)

ModelId = Annotated[str, typer.Argument(metavar="MODEL", help="Its id, as `models list` has it.")]
Start = Annotated[str, typer.Argument(metavar="FROM", help="The first day, such as 2025-08-15.")]
End = Annotated[str, typer.Argument(metavar="TO", help="The last day.")]
Train = Annotated[int, typer.Option("--train", min=1, help="Days of training in a window.")]
Test = Annotated[int, typer.Option("--test", min=1, help="Days of testing in a window.")]
Purge = Annotated[int, typer.Option("--purge", min=0, help="Days left out between both.")]
Anchored = Annotated[
    bool, typer.Option("--anchored", help="Every window begins with the first day.")
]
Weight = Annotated[
    list[str], typer.Option("--weight", "-w", help="Such as recent_form=0.6; repeat it.")
]
BetTypes = Annotated[
    list[str] | None, typer.Option("--bet", help="h2h, spreads or totals; h2h without.")
]
Data = Annotated[list[str] | None, typer.Option("--data", help="A table of your own: ID=0.2.")]
Least = Annotated[str, typer.Option("--min-confidence", help="Below this it says nothing.")]

_MODELS: Final = (
    Column("id", whole=True),
    Column("name"),
    Column("sport", from_width=110),
    Column("bets on", from_width=100),
    Column("counts", from_width=80),
    Column("from", right=True, from_width=110),
    Column("status"),
)
_WINDOWS: Final = (
    Column("from"),
    Column("to"),
    Column("bets", right=True),
    Column("return", right=True),
    Column("Brier", right=True),
)


def add_building(group: typer.Typer, opened: Opened) -> None:
    """Add the commands around models of one's own, and walks."""
    models = typer.Typer(help="Models of your own.", no_args_is_help=True)
    _add_list(models, opened)
    _add_create(models, opened)
    _add_turning(models, opened)
    _add_remove(models, opened)
    group.add_typer(models, name="models")
    _add_backtest(group, opened)
    _add_walk(group, opened)


def _add_list(group: typer.Typer, opened: Opened) -> None:
    @group.command("list")
    def list_models(*, user: User = OWNER, as_json: AsJson = False) -> None:
        """List your models."""
        found = with_bets(opened, lambda bets: bets.user_models(caller_of(user)))
        print_found(
            found,
            _MODELS,
            _model_line,
            as_json=as_json,
            empty="You have no models: `grandstand bets models create` makes one.",
        )


def _model_line(model: ModelView) -> Line:
    weights = {**model.data_sources, **model.datasets}
    told = ", ".join(f"{name} {_share(weight)}" for name, weight in weights.items())
    return Line(
        (
            model.model_id,
            model.name,
            model.sport,
            ", ".join(model.bet_types),
            told,
            percent(float(model.min_confidence), 0),
            model.status,
        ),
        "dim" if model.status == "paused" else "",
    )


def _share(weight: Decimal) -> str:
    return percent(float(weight), 0)


def _add_create(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def create(
        name: Annotated[str, typer.Argument(help="What to call it.")],
        *,
        weight: Weight,
        sport: Sport = None,
        bet: BetTypes = None,
        data: Data = None,
        least: Least = "0.55",
        description: Annotated[str, typer.Option("--description")] = "",
        auto: Annotated[
            bool, typer.Option("--auto", help="Let its weights be adjusted weekly.")
        ] = False,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Make a model: sources and their weights, which add up to 1."""

        async def made(bets: Bets) -> ModelView:
            draft = ModelDraft(
                name=name,
                sport=sport_of(bets, sport),
                bet_types=tuple(bet or ["h2h"]),
                data_sources=weights_of(weight),
                min_confidence=decimal_of(least),
                description=description,
                auto_adjust_weights=auto,
                datasets=weights_of(data or []),
            )
            return await bets.create_model(caller_of(user), draft)

        found = with_bets(opened, made)
        echo_json(found) if as_json else print_grid(console(), _MODELS, [_model_line(found)])


def _add_turning(group: typer.Typer, opened: Opened) -> None:
    def turned(model_id: str, user: str, *, paused: bool) -> None:
        async def act(bets: Bets) -> ModelView:
            return await bets.turn_model(caller_of(user), model_id, paused=paused)

        found = with_bets(opened, act)
        typer.echo(f"{found.name} is {found.status}")

    @group.command()
    def pause(model_id: ModelId, *, user: User = OWNER) -> None:
        """Let a model predict nothing for a while."""
        turned(model_id, user, paused=True)

    @group.command()
    def resume(model_id: ModelId, *, user: User = OWNER) -> None:
        """Let a paused model go on."""
        turned(model_id, user, paused=False)


def _add_remove(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def remove(model_id: ModelId, *, yes: Yes = False, user: User = OWNER) -> None:
        """Remove a model for good; what it predicted stays scored."""

        async def removed(bets: Bets) -> str:
            who = caller_of(user)
            model = await bets.user_model(who, model_id)
            if not yes:
                typer.confirm(f"Remove {model.name}?", abort=True, err=True)
            await bets.remove_model(who, model_id)
            return model.name

        typer.echo(f"{with_bets(opened, removed)} is removed")


def _add_backtest(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def backtest(
        model_id: ModelId,
        start: Start,
        end: End,
        *,
        train: Train = 60,
        test: Test = 14,
        purge: Purge = 1,
        anchored: Anchored = False,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Walk one of your models forward over kept seasons; every try is counted."""
        wish = _wish(start, end, (train, test, purge), anchored=anchored)

        async def walked(bets: Bets) -> BacktestView:
            who = caller_of(user)
            model = await bets.user_model(who, model_id)
            with progress_bar(model.name) as told:
                return await bets.backtest(who, model_id, wish, told)

        found = with_bets(opened, walked)
        echo_json(found) if as_json else _print_backtest(console(), found)


def _add_walk(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def walk(
        model: Annotated[str, typer.Argument(help="A built-in model, such as elo.")],
        start: Start,
        end: End,
        *,
        sport: Sport = None,
        train: Train = 60,
        test: Test = 14,
        purge: Purge = 1,
        anchored: Anchored = False,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Walk a built-in model forward over kept seasons; every try is counted."""
        wish = _wish(start, end, (train, test, purge), anchored=anchored)

        async def walked(bets: Bets) -> BacktestView:
            name = sport_of(bets, sport)
            with progress_bar(f"{model}, {name}") as told:
                return await bets.walk_model(caller_of(user), model, name, wish, told)

        found = with_bets(opened, walked)
        echo_json(found) if as_json else _print_backtest(console(), found)


def _wish(start: str, end: str, days: tuple[int, int, int], *, anchored: bool) -> WalkWish:
    first, last = day_of(start), day_of(end)
    if first.year < 1900:  # noqa: PLR2004 - before there were odds to keep
        raise InvalidInput(f"{start} is too long ago")
    return WalkWish(first, last, *days, anchored)


def _print_backtest(to: Console, found: BacktestView) -> None:
    wish = found.wish
    about = f"{found.name}, {found.sport}, {wish.start} to {wish.end}"
    title(to, f"{about}: {count(found.games, 'game')}")
    print_performance(to, found.performance)
    to.print()
    lines = (
        Line(
            (
                f"{each.start}",
                f"{each.end}",
                str(each.predictions),
                signed(each.roi),
                number(each.brier),
            ),
            "" if each.predictions else "dim",
        )
        for each in found.windows
    )
    print_grid(to, _WINDOWS, lines)
    deflated = NONE if found.deflated_sharpe is None else percent(found.deflated_sharpe)
    tried = count(found.trials, "try", "tries")
    say(to, f"After {tried} in this sport it is no accident with a chance of {deflated}.", "dim")
