"""`ledger verify` finds a tampered ledger."""

from __future__ import annotations

import asyncio
from pathlib import Path

from grandstand.apps.bets.store.wagers import LedgerEntry
from tests.apps.bets.cli.runner import command_runner


def test_a_ledger_that_does_not_balance_is_told_with_an_exit_code_of_one(tmp_path: Path) -> None:
    run = command_runner(tmp_path)

    async def tampered() -> None:
        async with run.staged() as stage:
            first = (await stage.db.store(LedgerEntry.of_book("benny")))[0]
            await stage.db.store(first.replace(kind="gift").put())

    asyncio.run(tampered())
    verified = run("ledger", "verify")

    assert verified.exit_code == 1
    assert "benny: 3 entries, DOES NOT BALANCE" in verified.stdout
