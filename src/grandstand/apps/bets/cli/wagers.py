"""Commands for wagers, limits, Benny and the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli import console as cli
from grandstand.apps.bets.domain.ledger import BetLimits
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.benny import BennyBetView, BennyDashboard
from grandstand.apps.bets.services.ledger import LedgerVerification, LimitsView
from grandstand.apps.bets.services.wagers import WagerRequest, WagerSummary, WagerView
from grandstand.core.errors import InvalidInput
from grandstand.kit.cursors import Page
from grandstand.kit.terminal import (
    ColumnSpec,
    TableRow,
    console,
    echo_json,
    print_line,
    print_results,
    print_table,
    print_title,
)

_WAGERS: Final = (
    ColumnSpec("start (UTC)", from_width=120, whole=True),
    ColumnSpec("game", from_width=80),
    ColumnSpec("bet"),
    ColumnSpec("price", right=True),
    ColumnSpec("stake", right=True),
    ColumnSpec("book", from_width=100),
    ColumnSpec("status"),
    ColumnSpec("profit", right=True),
    ColumnSpec("CLV", right=True, from_width=120),
    ColumnSpec("id", from_width=140, whole=True),
)


def add_wagers(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    """Add the commands for wagers and limits."""
    wagers = typer.Typer(help="Your bets.", no_args_is_help=True)
    _add_list(wagers, with_bets)
    _add_add(wagers, with_bets)
    _add_import(wagers, with_bets)
    group.add_typer(wagers, name="wagers")
    _add_limits(group, with_bets)


def _add_list(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command("list")
    def list_wagers(
        *, limit: cli.Limit = 20, user: cli.User = cli.OWNER, as_json: cli.AsJson = False
    ) -> None:
        """List your bets with their results, latest games first."""

        async def load(bets: Bets) -> tuple[Page[WagerView], WagerSummary]:
            who = cli.caller_for(user)
            return await bets.wagers.list_wagers(who, limit=limit), await bets.wagers.summary(who)

        page, summary = with_bets(load)
        if as_json:
            echo_json({"wagers": page.items, "summary": summary})
            return
        to = console()
        if not page.items:
            print_line(to, "No bets. Record one with `grandstand bets wagers add`.")
            return
        print_table(to, _WAGERS, map(_wager_line, page.items))
        staked, open_stakes = map(
            cli.format_money, (summary.staked_cents, summary.open_stakes_cents)
        )
        bets = cli.format_count(summary.bets, "bet")
        print_line(to, f"{bets}, {summary.open} open with {open_stakes}", "dim")
        if summary.bets > summary.open:
            profit = cli.format_money(summary.profit_cents, signed=True)
            back = cli.format_interval(summary.roi, sign=True)
            print_line(to, f"Settled: {profit} of {staked} staked, return {back}", "dim")


def _wager_line(one: WagerView) -> TableRow:
    status = one.status if one.verdict is None else cli.format_key(one.verdict)
    return TableRow(
        (
            cli.format_day_time(one.commence_time),
            cli.format_teams(one.home_team, one.away_team),
            _bet(one),
            cli.format_price(one.price),
            cli.format_money(one.stake_cents),
            one.bookmaker or cli.NONE,
            status,
            cli.format_money(one.profit_cents, signed=True),
            cli.format_signed_percent(one.clv),
            one.wager_id,
        )
    )


def _bet(one: WagerView) -> str:
    named = {"home": one.home_team, "away": one.away_team}.get(one.side, one.side)
    line = cli.format_point(one.point, signed=one.side in {"home", "away"})
    about = f"{named} {line}".strip()
    return f"{one.participant}: {about} {one.market_key}" if one.participant else about


def _add_add(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def add(
        game_id: Annotated[str, typer.Argument(metavar="GAME", help="A game id from `games`.")],
        *,
        side: Annotated[str, typer.Option("--side", help="home, away, draw, over or under.")],
        american: Annotated[int, typer.Option("--price", help="The American price, such as -110.")],
        stake: Annotated[str, typer.Option("--stake", help="Dollars, such as 15.50.")],
        market: Annotated[
            str, typer.Option("--market", "-m", help="A market such as spreads.")
        ] = "h2h",
        line: Annotated[str | None, typer.Option("--point", help="The line, such as -3.5.")] = None,
        player: Annotated[
            str | None, typer.Option("--player", help="The player of a prop.")
        ] = None,
        bookmaker: Annotated[str, typer.Option("--book", "-b", help="The bookmaker.")] = "",
        placed: Annotated[
            str | None,
            typer.Option(
                "--placed", help="When it was placed: 2026-02-11T14:00:00Z. Default: now."
            ),
        ] = None,
        note: Annotated[str, typer.Option("--note")] = "",
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Record a bet you placed elsewhere, within your limits."""

        async def record(bets: Bets) -> WagerView:
            draft = WagerRequest(
                game_id=game_id,
                market_key=market,
                side=side,
                price=american,
                stake_cents=cli.parse_cents(stake),
                point=None if line is None else cli.parse_decimal(line),
                bookmaker=bookmaker,
                placed_at=None if placed is None else cli.parse_time(placed, bets.now()),
                note=note,
                participant=player,
            )
            return await bets.wagers.record(cli.caller_for(user), draft)

        found = with_bets(record)
        echo_json(found) if as_json else print_table(console(), _WAGERS, [_wager_line(found)])


def _add_import(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command("import")
    def import_wagers(
        file: Annotated[
            Path, typer.Argument(help="A CSV file. The documentation lists its columns.")
        ],
        *,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Import bets from a file. Lines recorded before are skipped.

        Exits with 1 if a line is invalid; the others are recorded.
        """
        content = cli.read_bytes(file)
        done = with_bets(lambda bets: bets.wagers.import_file(cli.caller_for(user), content))
        if as_json:
            echo_json(done)
        else:
            recorded = cli.format_count(done.recorded, "bet")
            typer.echo(f"{recorded} recorded, {done.already_recorded} already recorded")
            for rejected in done.rejected:
                typer.echo(f"! line {rejected.line}: {rejected.reason}", err=True)
        if done.rejected:
            raise typer.Exit(1)

    @group.command()
    def remove(
        wager_id: Annotated[
            str, typer.Argument(metavar="BET", help="A bet id from `list --json`.")
        ],
        *,
        yes: cli.Yes = False,
        user: cli.User = cli.OWNER,
    ) -> None:
        """Withdraw an open bet before its game starts."""
        if not yes:
            typer.confirm(f"Withdraw {wager_id}?", abort=True, err=True)
        with_bets(lambda bets: bets.wagers.remove(cli.caller_for(user), wager_id))
        typer.echo("Withdrawn.")


def _add_limits(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def limits(
        *,
        bet: Annotated[
            str | None,
            typer.Option("--bet", help="Maximum stake per bet; `none` removes the limit."),
        ] = None,
        day: Annotated[str | None, typer.Option("--day", help="Maximum stakes per day.")] = None,
        week: Annotated[str | None, typer.Option("--week", help="Maximum loss per week.")] = None,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show or set your limits. Looser limits apply after a day."""

        async def run(bets: Bets) -> LimitsView:
            who = cli.caller_for(user)
            now = await bets.limits.get(who)
            if bet is None and day is None and week is None:
                return now
            draft = BetLimits(
                _limit(bet, now.stake_per_bet_cents),
                _limit(day, now.stake_per_day_cents),
                _limit(week, now.loss_per_week_cents),
            )
            return await bets.limits.update(who, draft)

        found = with_bets(run)
        echo_json(found) if as_json else _print_limits(console(), found)

    @group.command("time-out")
    def time_out(
        until: Annotated[str, typer.Argument(help="12h, 3d, 2w, or 2026-03-01T00:00:00Z.")],
        *,
        yes: cli.Yes = False,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Start a time-out. It can be extended but not shortened."""
        if as_json and not yes:
            raise InvalidInput("--json needs --yes because there is no confirmation.")

        async def run(bets: Bets) -> LimitsView:
            moment = cli.parse_time(until, bets.now()).replace(microsecond=0)
            if not yes:
                end = f"{cli.format_timestamp(moment)} UTC"
                text = f"Block all bets until {end}? This cannot be undone."
                typer.confirm(text, abort=True, err=True)
            return await bets.limits.time_out(cli.caller_for(user), moment)

        found = with_bets(run)
        echo_json(found) if as_json else _print_limits(console(), found)


def _limit(text: str | None, now: int | None) -> int | None:
    if text is None:
        return now
    return None if text == "none" else cli.parse_cents(text)


def _print_limits(to: Console, found: LimitsView) -> None:
    used_day, used_week = map(
        cli.format_money, (found.staked_today_cents, found.lost_this_week_cents)
    )
    print_line(to, f"stake per bet   {_most(found.stake_per_bet_cents)}")
    print_line(to, f"stakes per day  {_most(found.stake_per_day_cents)}, {used_day} staked today")
    print_line(to, f"loss per week   {_most(found.loss_per_week_cents)}, {used_week} lost so far")
    if found.time_out_until is not None:
        print_line(to, f"time-out until  {cli.format_timestamp(found.time_out_until)} UTC", "bold")
    if found.loosens_at is not None:
        print_line(
            to, f"looser limits apply from {cli.format_timestamp(found.loosens_at)} UTC", "dim"
        )


def _most(cents: int | None) -> str:
    return "no limit" if cents is None else f"at most {cli.format_money(cents)}"


_BETS: Final = (
    ColumnSpec("start (UTC)", from_width=120, whole=True),
    ColumnSpec("game", from_width=80),
    ColumnSpec("bet"),
    ColumnSpec("probability", right=True, from_width=90),
    ColumnSpec("price", right=True),
    ColumnSpec("stake", right=True),
    ColumnSpec("status"),
    ColumnSpec("profit", right=True),
    ColumnSpec("CLV", right=True, from_width=110),
)
_RULES: Final = (
    ColumnSpec("rule"),
    ColumnSpec("rejected", right=True),
    ColumnSpec("settled", right=True, from_width=60),
    ColumnSpec("return if bet", right=True),
)


def add_benny(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    """Add the commands for Benny and the ledger."""
    _add_benny(group, with_bets)
    _add_trade(group, with_bets)
    group.add_typer(_ledger(with_bets), name="ledger")


def _add_benny(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def benny(
        *,
        shadow: Annotated[
            bool, typer.Option("--shadow", help="Show the bets his rules rejected.")
        ] = False,
        limit: cli.Limit = 20,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show Benny's bankroll, bets, learning and the effect of his rules."""
        if shadow:
            page = with_bets(lambda bets: bets.benny.shadow_bets(limit=limit))
            print_results(page.items, _BETS, _bet_line, as_json=as_json, empty="No bets.")
            return
        found = with_bets(lambda bets: bets.benny.dashboard())
        echo_json(found) if as_json else _print_benny(console(), found)


def _print_benny(to: Console, benny: BennyDashboard) -> None:
    stakes = cli.format_money(benny.open_stakes_cents)
    print_title(
        to, f"Benny: {cli.format_money(benny.bankroll_cents)} available, {stakes} on open bets"
    )
    budget = cli.format_money(benny.weekly_budget_cents)
    print_line(to, f"Weekly budget: {budget} (virtual money)", "dim")
    print_line(to, f"{cli.format_count(benny.bets, 'bet')} so far, {benny.pending} open")
    if benny.bets > benny.pending:
        print_line(to, f"wins   {cli.format_interval(benny.win_rate)}")
        profit = cli.format_money(benny.profit_cents, signed=True)
        print_line(to, f"return {cli.format_interval(benny.roi, sign=True)}, {profit}")
        print_line(to, f"CLV    {cli.format_interval(benny.clv, sign=True)}")
    learning = benny.learning
    print_line(
        to,
        f"Minimum probability {cli.format_percent(learning.threshold)}, stakes "
        f"{cli.format_percent(learning.kelly_fraction, 0)} of Kelly, learned from "
        f"{cli.format_count(learning.bets, 'bet')}",
    )
    bets = (*benny.open_bets, *benny.settled_bets)
    if bets:
        to.print()
        print_table(to, _BETS, map(_bet_line, bets))
    if benny.rules:
        to.print()
        lines = (
            TableRow(
                (
                    cli.format_key(rule.rule),
                    str(rule.rejected),
                    str(rule.settled),
                    cli.format_interval(rule.roi, sign=True),
                )
            )
            for rule in benny.rules
        )
        print_table(to, _RULES, lines)


def _bet_line(bet: BennyBetView) -> TableRow:
    status = cli.format_key(bet.rejected_by) if bet.rejected_by else bet.status
    return TableRow(
        (
            cli.format_day_time(bet.commence_time),
            cli.format_teams(bet.home_team, bet.away_team),
            bet.prediction,
            cli.format_percent(bet.probability),
            cli.format_price(bet.price),
            cli.format_money(bet.stake_cents),
            status,
            cli.format_money(bet.profit_cents, signed=True),
            cli.format_signed_percent(bet.clv),
        ),
        "bold" if bet.status == "pending" and not bet.rejected_by else "",
    )


def _add_trade(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def trade(*, as_json: cli.AsJson = False) -> None:
        """Run Benny's daily trading."""
        done = with_bets(lambda bets: bets.benny_trader.trade())
        if as_json:
            echo_json(done)
        elif done.elsewhere:
            typer.echo("Another instance is trading.")
        else:
            text = f"{cli.format_count(done.considered, 'bet')} considered, {done.placed} placed"
            typer.echo(
                f"{text} for {cli.format_money(done.staked_cents)}, {done.rejected} rejected"
            )


def _ledger(with_bets: cli.BetsRunner) -> typer.Typer:
    group = typer.Typer(help="The double-entry ledger.", no_args_is_help=True)

    @group.callback()
    def ledger() -> None:
        """The double-entry ledger."""

    @group.command()
    def verify(
        book: Annotated[
            str | None, typer.Argument(help="benny or user:ID. Default: all books.")
        ] = None,
        *,
        as_json: cli.AsJson = False,
    ) -> None:
        """Verify all balances and links. Exits with 1 if a book is not sound."""

        async def verify_books(bets: Bets) -> list[LedgerVerification]:
            if book is not None:
                return [await bets.ledger.verify(book)]
            return [result async for result in bets.ledger.verify_all()]

        proofs = with_bets(verify_books)
        if as_json:
            echo_json(proofs)
        else:
            for proof in proofs:
                _print_proof(console(), proof)
            if not proofs:
                typer.echo("The ledger is empty.")
        if not all(proof.sound for proof in proofs):
            raise typer.Exit(1)

    return group


def _print_proof(to: Console, proof: LedgerVerification) -> None:
    text = "balances" if proof.sound else "DOES NOT BALANCE"
    style = "" if proof.sound else "bold red"
    print_line(
        to, f"{proof.book}: {cli.format_count(proof.entries, 'entry', 'entries')}, {text}", style
    )
    for account, cents in sorted(proof.balances.items()):
        print_line(to, f"  {account:<12} {cli.format_money(cents):>14}")
    for fault in proof.faults:
        print_line(to, f"  ! {fault}", "red")
