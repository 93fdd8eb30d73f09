"""Kept here: the commands of Benny and of the ledger."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli.asking import AsJson, Limit, Opened, with_bets
from grandstand.apps.bets.cli.words import (
    count,
    money,
    percent,
    plain,
    price,
    short,
    signed,
    teams,
    within,
)
from grandstand.apps.bets.service import BennyBetView, BennyView, Bets, LedgerProof
from grandstand.kit.terminal import Column, Line, console, echo_json, print_grid, say, title

_BETS: Final = (
    Column("start (UTC)", from_width=120, whole=True),
    Column("game", from_width=80),
    Column("bet"),
    Column("chance", right=True, from_width=90),
    Column("price", right=True),
    Column("stake", right=True),
    Column("status"),
    Column("profit", right=True),
    Column("CLV", right=True, from_width=110),
)
_RULES: Final = (
    Column("rule"),
    Column("kept away", right=True),
    Column("settled", right=True, from_width=60),
    Column("return had they been bet", right=True),
)


def add_benny(group: typer.Typer, opened: Opened) -> None:
    """Add the commands of Benny and of the ledger."""
    _add_benny(group, opened)
    _add_trade(group, opened)
    group.add_typer(_ledger(opened), name="ledger")


def _add_benny(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def benny(
        *,
        shadow: Annotated[
            bool, typer.Option("--shadow", help="What he did not bet, and why.")
        ] = False,
        limit: Limit = 20,
        as_json: AsJson = False,
    ) -> None:
        """Show Benny: his money, his bets, what he has learnt and what his rules are worth."""
        if shadow:
            kept = with_bets(opened, lambda bets: bets.shadow_bets(limit=limit)).items
            if as_json:
                echo_json(kept)
            else:
                _print_bets(console(), kept)
            return
        found = with_bets(opened, lambda bets: bets.benny())
        echo_json(found) if as_json else _print_benny(console(), found)


def _print_benny(to: Console, benny: BennyView) -> None:
    stakes = money(benny.open_stakes_cents)
    title(to, f"Benny has {money(benny.bankroll_cents)} in hand and {stakes} on open bets")
    budget = money(benny.weekly_budget_cents)
    say(to, f"He begins every week with {budget}; all of it is virtual", "dim")
    say(to, f"{count(benny.bets, 'bet')} so far, {benny.pending} open")
    if benny.bets > benny.pending:
        say(to, f"won    {within(benny.win_rate)}")
        say(to, f"return {within(benny.roi, sign=True)}, {money(benny.profit_cents, signed=True)}")
        say(to, f"CLV    {within(benny.clv, sign=True)}")
    learnt = benny.learnt
    say(
        to,
        f"He bets from {percent(learnt.threshold)} on, {percent(learnt.kelly_fraction, 0)} of "
        f"Kelly; learnt from {count(learnt.bets, 'bet')}",
    )
    bets = (*benny.open_bets, *benny.settled_bets)
    if bets:
        to.print()
        _print_bets(to, bets)
    if benny.rules:
        to.print()
        lines = (
            Line(
                (
                    plain(each.rule),
                    str(each.rejected),
                    str(each.settled),
                    within(each.roi, sign=True),
                )
            )
            for each in benny.rules
        )
        print_grid(to, _RULES, lines)


def _print_bets(to: Console, bets: tuple[BennyBetView, ...]) -> None:
    if not bets:
        say(to, "There is nothing yet.")
        return
    print_grid(to, _BETS, map(_bet_line, bets))


def _bet_line(bet: BennyBetView) -> Line:
    status = plain(bet.rejected_by) if bet.rejected_by else bet.status
    return Line(
        (
            short(bet.commence_time),
            teams(bet.home_team, bet.away_team),
            bet.prediction,
            percent(bet.probability),
            price(bet.price),
            money(bet.stake_cents),
            status,
            money(bet.profit_cents, signed=True),
            signed(bet.clv),
        ),
        "bold" if bet.status == "pending" and not bet.rejected_by else "",
    )


def _add_trade(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def trade(*, as_json: AsJson = False) -> None:
        """Let Benny bet for today, as his job does."""
        done = with_bets(opened, lambda bets: bets.trade())
        if as_json:
            echo_json(done)
        elif done.elsewhere:
            typer.echo("Another instance lets him bet just now.")
        else:
            told = f"{count(done.considered, 'bet')} considered, {done.placed} placed"
            typer.echo(f"{told} for {money(done.staked_cents)}, {done.rejected} left alone")


def _ledger(opened: Opened) -> typer.Typer:
    group = typer.Typer(help="The double-entry ledger.", no_args_is_help=True)

    @group.callback()
    def ledger() -> None:
        """The double-entry ledger."""

    @group.command()
    def verify(
        book: Annotated[
            str | None, typer.Argument(help="benny, or user:ID; every book without.")
        ] = None,
        *,
        as_json: AsJson = False,
    ) -> None:
        """Recompute every balance and link; exits with 1 when a book is not sound."""

        async def proved(bets: Bets) -> list[LedgerProof]:
            if book is not None:
                return [await bets.verify_ledger(book)]
            return [each async for each in bets.verify_every_ledger()]

        proofs = with_bets(opened, proved)
        if as_json:
            echo_json(proofs)
        else:
            for proof in proofs:
                _print_proof(console(), proof)
            if not proofs:
                typer.echo("Nothing was ever entered.")
        if not all(proof.sound for proof in proofs):
            raise typer.Exit(1)

    return group


def _print_proof(to: Console, proof: LedgerProof) -> None:
    told = "balances" if proof.sound else "DOES NOT BALANCE"
    style = "" if proof.sound else "bold red"
    say(to, f"{proof.book}: {count(proof.entries, 'entry', 'entries')}, {told}", style)
    for account, cents in sorted(proof.balances.items()):
        say(to, f"  {account:<12} {money(cents):>14}")
    for fault in proof.faults:
        say(to, f"  ! {fault}", "red")
