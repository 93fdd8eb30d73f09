"""Kept here: how the ranking, held against results, looks at a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console

from grandstand.apps.keiba.cli.words import NONE, percent
from grandstand.apps.keiba.service import Backtested
from grandstand.kit.terminal import Column, Line, print_grid, say, title

_LOSS_COLUMNS: Final = (Column("log loss of"), Column("races", right=True), Column("", right=True))
_BIN_COLUMNS: Final = (
    Column("chances of", right=True),
    Column("runners", right=True),
    Column("won", right=True),
)


def print_backtest(to: Console, tested: Backtested) -> None:
    """Print how well the ranking foretold, beside even chances and the market."""
    left_out = f", {tested.left_out} left out for want of form" if tested.left_out else ""
    races = "1 race" if tested.races == 1 else f"{tested.races} races"
    title(to, f"{tested.first} to {tested.last}: {races}{left_out}")
    if not tested.races:
        say(to, "No results of these days are kept: `race ID --result` fetches one.")
        return
    to.print()
    print_grid(to, _LOSS_COLUMNS, _losses(tested))
    to.print()
    bins = (
        Line((f"{percent(each.mean_chance)} %", str(each.runners), f"{percent(each.won)} %"))
        for each in tested.calibration
    )
    print_grid(to, _BIN_COLUMNS, bins)
    to.print()
    book = tested.account
    told = f"{book.bets} bets of 100 yen where we expect a gain: staked ¥{book.staked_yen:,}"
    say(to, f"{told}, returned ¥{book.returned_yen:,}")


def _losses(tested: Backtested) -> list[Line]:
    lines = [
        ("our chances", tested.races, tested.log_loss),
        ("even chances", tested.races, tested.uniform_loss),
        ("our chances, where odds are known", tested.market_races, tested.our_market_loss),
        ("the market there", tested.market_races, tested.market_loss),
    ]
    return [
        Line((name, str(races), NONE if loss is None else f"{loss:.3f}"))
        for name, races, loss in lines
    ]
