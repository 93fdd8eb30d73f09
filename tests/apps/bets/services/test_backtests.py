"""Seasons are taken in once, walked forward with what was known, and every try is counted."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.services.backtests import BacktestRequest
from grandstand.apps.bets.services.user_models import UserModelRequest
from grandstand.apps.bets.store.games import GameOdds, HistoricalOdds, ResultRecord
from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput, NotFound
from tests.apps.bets.stage import ADA, BOB, EPL, Stage, embedded, staged

pytestmark = pytest.mark.anyio
TEAMS = ("Arsenal", "Brentford", "Chelsea", "Everton", "Fulham", "Leeds")
HEAD = "Div,Date,Time,HomeTeam,AwayTeam,FTHG,FTAG,FTR,B365H,B365D,B365A,B365CH,B365CD,B365CA"
WISH = BacktestRequest(date(2025, 9, 1), date(2025, 10, 20), train_days=30, test_days=14)
DRAFT = UserModelRequest(
    "Form",
    EPL,
    ("h2h",),
    {"recent_form": Decimal("0.7"), "head_to_head": Decimal("0.3")},
    Decimal("0.5"),
)


def season(rows: int = 90) -> bytes:
    """A season in which earlier teams of the alphabet win at home, and draws are common."""
    lines = [HEAD]
    for n in range(rows):
        home, away = TEAMS[n % 6], TEAMS[(n + 1 + n // 6 % 5) % 6]
        day = date(2025, 8, 1) + timedelta(days=n)
        goals = (2, 0) if home < away else (0, 1) if n % 3 else (1, 1)
        result = "H" if goals[0] > goals[1] else "A" if goals[0] < goals[1] else "D"
        lines.append(
            f"E0,{day:%d/%m/%Y},15:00,{home},{away},{goals[0]},{goals[1]},{result},"
            "2.10,3.40,3.60,2.00,3.40,3.90"
        )
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def soccer() -> Stage:
    """A stage with a season of soccer."""
    clock = ManualClock(datetime(2026, 1, 5, tzinfo=UTC))
    made = staged(embedded(clock), clock, sports=(EPL,))
    await made.bets.file_importer.import_season(EPL, "E0.csv", season())
    return made


async def test_a_season_is_taken_in_once_with_opening_and_closing_prices(soccer: Stage) -> None:
    again = await soccer.bets.file_importer.import_season(EPL, "E0.csv", season())

    [line, *_] = soccer.store(ResultRecord.since(EPL, datetime(2025, 8, 1, tzinfo=UTC)))
    [opening, closing] = soccer.store(GameOdds.of_game(line.game_id))
    [kept] = soccer.store(HistoricalOdds.of_game(line.game_id))
    assert (again.received, again.written) == (90, 0)
    assert opening.captured_at < closing.captured_at < line.commence_time
    assert kept.outcomes == closing.outcomes
    assert (line.known_at, opening.latest) == (line.completed_at, False)


async def test_lines_that_cannot_be_used_are_refused_by_number_and_the_rest_is_kept() -> None:
    clock = ManualClock(datetime(2026, 1, 5, tzinfo=UTC))
    stage = staged(embedded(clock), clock, sports=(EPL,))
    bad = season(3).replace(b"Arsenal,Brentford,2,0,H", b"Arsenal,Brentford,two,0,H")

    report = await stage.bets.file_importer.import_season(EPL, "E0.csv", bad)

    assert report.written == 2
    assert [each.row for each in report.rejected] == ["line 2"]
    with pytest.raises(InvalidInput):
        await stage.bets.file_importer.import_season(EPL, "E0.csv", b"a,b\n1,2\n")


async def test_a_built_in_model_is_walked_forward_and_kept(soccer: Stage) -> None:
    heard: list[tuple[int, int]] = []

    found = await soccer.bets.backtests.run_builtin(
        ADA, "elo", EPL, WISH, lambda done, of: heard.append((done, of))
    )

    again = await soccer.bets.backtests.get(ADA, found.backtest_id)
    assert again == found
    assert found.performance.predictions > 20
    assert found.performance.brier is not None
    assert found.performance.clv is not None
    assert len(found.windows) >= 3
    assert {each.start for each in found.windows} >= {WISH.start}
    assert heard[-1][0] == heard[-1][1] == found.games
    assert all(each.commence_time.date() >= WISH.start for each in found.predictions)
    with pytest.raises(NotFound):
        await soccer.bets.backtests.get(BOB, found.backtest_id)


async def test_every_try_counts_and_weighs_on_the_result(soccer: Stage) -> None:
    model = await soccer.bets.user_models.create(BOB, DRAFT)

    first = await soccer.bets.backtests.run_draft(BOB, DRAFT, WISH)
    second = await soccer.bets.backtests.run(BOB, model.model_id, replace(WISH, anchored=True))

    listed = (await soccer.bets.backtests.list_backtests(BOB, model.model_id)).items
    assert (first.trials, second.trials) == (1, 2)
    assert [each.backtest_id for each in listed] == [second.backtest_id]
    assert listed[0].predictions == ()
    assert second.deflated_sharpe is None or 0.0 <= second.deflated_sharpe <= 1.0
    assert (await soccer.bets.backtests.list_backtests(ADA, model.model_id)).items == ()


async def test_what_cannot_be_walked_is_refused(soccer: Stage) -> None:
    empty = BacktestRequest(date(2020, 1, 1), date(2020, 2, 1))

    with pytest.raises(InvalidInput, match="start must be before the end"):
        await soccer.bets.backtests.run_builtin(ADA, "elo", EPL, replace(WISH, end=WISH.start))
    with pytest.raises(InvalidInput, match="0 games from"):
        await soccer.bets.backtests.run_builtin(ADA, "elo", EPL, empty)
    with pytest.raises(InvalidInput, match="at least 1 day"):
        await soccer.bets.backtests.run_builtin(ADA, "elo", EPL, replace(WISH, test_days=0))
    with pytest.raises(NotFound):
        await soccer.bets.backtests.run_builtin(ADA, "oracle", EPL, WISH)
