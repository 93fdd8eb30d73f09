"""Kept here: `grandstand bets tools …`: shopping for prices, and fair odds."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from grandstand.apps.bets.cli.asking import AsJson, Opened, Sport, sport_of, with_bets
from grandstand.apps.bets.cli.words import age, percent, point, price, short, side, signed, teams
from grandstand.apps.bets.service import (
    Arbitrage,
    BestPrice,
    Bets,
    FairOdds,
    Leg,
    Middle,
    StaleLine,
)
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

_LEGS: Final = (
    Column("book"),
    Column("bet"),
    Column("price", right=True),
    Column("of the stake", right=True),
    Column("age", right=True),
)
_STALE: Final = (
    Column("start (UTC)", from_width=120, whole=True),
    Column("game", from_width=80),
    Column("book"),
    Column("bet"),
    Column("price", right=True),
    Column("fair", right=True),
    Column("edge", right=True),
    Column("age", right=True),
)
_BEST: Final = (
    Column("start (UTC)", from_width=120, whole=True),
    Column("game", from_width=80),
    Column("market", from_width=100),
    Column("bet"),
    Column("price", right=True),
    Column("book"),
    Column("fair", right=True, from_width=70),
    Column("expected", right=True),
    Column("age", right=True, from_width=60),
)
_FAIR: Final = (
    Column("given", right=True),
    Column("chance", right=True),
    Column("decimal", right=True),
    Column("American", right=True),
)


def tool_commands(opened: Opened) -> typer.Typer:
    """Make the commands that shop for prices."""
    group = typer.Typer(help="Shopping for prices, and fair odds.", no_args_is_help=True)
    _add_best(group, opened)
    _add_arbitrage(group, opened)
    _add_middles(group, opened)
    _add_stale(group, opened)
    _add_fair(group, opened)
    return group


def _add_best(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def best(
        game_id: Annotated[str | None, typer.Argument(metavar="GAME", help="One game.")] = None,
        *,
        sport: Sport = None,
        as_json: AsJson = False,
    ) -> None:
        """Show the best price of each side, where it is, and what it is worth."""

        async def found(bets: Bets) -> tuple[BestPrice, ...]:
            return await bets.best_prices(sport_of(bets, sport), game_id)

        prices = with_bets(opened, found)
        print_found(prices, _BEST, _best_line, as_json=as_json, empty=_NOTHING)


def _best_line(one: BestPrice) -> Line:
    over_under = one.name.casefold() in {"over", "under"}
    return Line(
        (
            short(one.commence_time),
            teams(one.home_team, one.away_team),
            one.market_key,
            f"{one.name} {point(one.point, signed=not over_under)}".strip(),
            price(one.price),
            one.bookmaker,
            percent(one.fair),
            signed(one.expected_return),
            age(one.age_seconds),
        ),
        "green" if (one.expected_return or 0.0) > 0 else "",
    )


_NOTHING: Final = "No price is fresh enough: `grandstand bets collect odds` asks the feed."


def _add_arbitrage(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def arbitrage(*, sport: Sport = None, as_json: AsJson = False) -> None:
        """Find bets that pay more than they cost however the game ends."""

        async def found(bets: Bets) -> tuple[Arbitrage, ...]:
            return await bets.arbitrages(sport_of(bets, sport))

        offers = with_bets(opened, found)
        if as_json:
            echo_json(offers)
            return
        for each in offers:
            about = f"{teams(each.home_team, each.away_team)}, {each.market_key}"
            _print_legs(f"{about}: {signed(each.profit_share, 2)} however it ends", each.legs)
        if not offers:
            typer.echo("There is none at the prices that are fresh.")


def _add_middles(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def middles(*, sport: Sport = None, as_json: AsJson = False) -> None:
        """Find pairs of bets that both win between their lines, cheapest first."""

        async def found(bets: Bets) -> tuple[Middle, ...]:
            return await bets.middles(sport_of(bets, sport))

        offers = with_bets(opened, found)
        if as_json:
            echo_json(offers)
            return
        for each in offers:
            ends = f"{point(each.low, signed=False)} and {point(each.high, signed=False)}"
            about = f"{teams(each.home_team, each.away_team)}, {each.market_key}"
            told = f"{about}: both win between {ends}, else {signed(-each.cost_share, 2)}"
            _print_legs(told, each.legs)
        if not offers:
            typer.echo("There is none at the prices that are fresh.")


def _print_legs(about: str, legs: tuple[Leg, ...]) -> None:
    to = console()
    title(to, about)
    lines = (
        Line(
            (
                each.bookmaker,
                side(each.outcome),
                price(each.outcome.price),
                percent(each.share),
                age(each.age_seconds),
            )
        )
        for each in legs
    )
    print_grid(to, _LEGS, lines)
    to.print()


def _add_stale(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def stale(*, sport: Sport = None, as_json: AsJson = False) -> None:
        """Find prices that stood still while at least three others moved."""

        async def found(bets: Bets) -> tuple[StaleLine, ...]:
            return await bets.stale_lines(sport_of(bets, sport))

        lines = with_bets(opened, found)
        print_found(
            lines,
            _STALE,
            _stale_line,
            as_json=as_json,
            empty="Nobody stands still while others move.",
        )


def _stale_line(one: StaleLine) -> Line:
    return Line(
        (
            short(one.commence_time),
            teams(one.home_team, one.away_team),
            one.bookmaker,
            side(one.outcome),
            price(one.outcome.price),
            percent(one.fair),
            signed(one.edge),
            age(one.age_seconds),
        )
    )


def _add_fair(group: typer.Typer, opened: Opened) -> None:
    # A price such as -150 would otherwise be taken for an option.
    @group.command(context_settings={"ignore_unknown_options": True})
    def fair(
        prices: Annotated[list[int], typer.Argument(help="American prices: -150 130.")],
        *,
        method: Annotated[
            str,
            typer.Option("--method", help="multiplicative, additive, power, shin, odds_ratio."),
        ] = "power",
        as_json: AsJson = False,
    ) -> None:
        """Take the margin out of prices."""

        async def found(bets: Bets) -> FairOdds:
            return bets.fair_odds(prices, method)

        odds = with_bets(opened, found)
        if as_json:
            echo_json(odds)
            return
        to = console()
        sides = zip(prices, odds.probabilities, odds.decimals, odds.americans, strict=True)
        print_grid(
            to,
            _FAIR,
            (
                Line((price(given), percent(chance, 2), f"{decimal:.3f}", price(american)))
                for given, chance, decimal, american in sides
            ),
        )
        say(to, f"The margin is {percent(odds.margin, 2)}, taken out by {odds.method}.", "dim")
