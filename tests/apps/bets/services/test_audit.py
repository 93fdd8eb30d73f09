"""Past predictions come out the same with the data as it was, and whoever changed one is named."""

from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.registry import BUILT_IN_MODELS
from grandstand.apps.bets.store.games import Injury
from grandstand.apps.bets.store.predictions import Prediction
from tests.apps.bets.domain.leaking_models import Culprit, late_injury
from tests.apps.bets.stage import NBA, NOON, Stage, game, h2h, score, spread

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)
GAMES = [
    game(
        h2h("fanduel", -150, 130),
        h2h("betmgm", -140, 120),
        spread("fanduel", "-3.5"),
        game_id=f"g{n}",
        starts=NOON + (24 * n + 12) * HOUR,
    )
    for n in range(3)
]


async def days(stage: Stage) -> None:
    """Three games on three days; each is predicted before the one before is known."""
    stage.odds.games = GAMES
    await stage.bets.odds_collector.collect(NBA)
    for each in GAMES:
        stage.to(each.commence_time - HOUR)
        await stage.bets.analysis_generator.run(NBA)
        stage.to(each.commence_time + 3 * HOUR)
        stage.odds.scores = [*stage.odds.scores, score(each, 112, 108)]
        await stage.bets.outcome_collector.collect(NBA)


def original(stage: Stage) -> Prediction:
    """The first winner consensus picked for the second game."""
    rows = stage.store(Prediction.of_game(NBA, "g1", "fanduel"))
    return next(
        row
        for row in rows
        if row.model == "consensus" and not row.is_inverse and row.market_key is None
    )


async def test_what_was_predicted_live_is_reproduced_from_the_data_as_it_was(stage: Stage) -> None:
    await days(stage)

    audit = await stage.bets.audit.run(NBA)

    assert audit.checked > 20
    assert (audit.same, audit.differing, audit.leaks) == (audit.checked, (), ())


async def test_a_prediction_that_was_changed_is_named(stage: Stage) -> None:
    await days(stage)
    kept = original(stage)
    stage.store(kept.replace(raw=Decimal("0.9")).put())

    audit = await stage.bets.audit.run(NBA)

    assert [kept.model in each and "stored 0.9" in each for each in audit.differing] == [True]
    assert audit.same == audit.checked - 1


async def test_a_prediction_stamped_after_the_start_is_a_leak(stage: Stage) -> None:
    await days(stage)
    kept = original(stage)
    late = kept.commence_time + HOUR
    stage.store(kept.replace(as_of=late, created_at=late).record())

    audit = await stage.bets.audit.run(NBA)

    [leak] = audit.leaks
    assert (leak.model, leak.game_id, leak.made_at) == ("consensus", "g1", late)
    assert leak.row == "the start of the game"


async def test_an_injury_that_claims_to_be_known_before_its_day_is_named_once(stage: Stage) -> None:
    await days(stage)
    reported_at = GAMES[0].commence_time - HOUR
    stage.store(
        Injury(
            team=GAMES[0].home_team,
            player="Sam Reed",
            sport=NBA,
            reported_on=(reported_at + timedelta(days=2)).date(),
            status="out",
            injury="knee",
            impact=Decimal("0.1"),
            updated_at=reported_at,
        ).save()
    )

    audit = await stage.bets.audit.run(NBA)

    assert [(leak.known_at, leak.row) for leak in audit.leaks if leak.model == "data"] == [
        (reported_at, "injury sam_reed of los_angeles_lakers: out")
    ]


async def test_a_model_that_looks_past_its_view_is_named_with_the_row_it_saw(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILT_IN_MODELS, "matchup", lambda: Culprit(late_injury, "matchup"))
    reported_at = GAMES[0].commence_time - HOUR / 2
    stage.store(
        Injury(
            team=GAMES[0].home_team,
            player="Sam Reed",
            sport=NBA,
            reported_on=reported_at.date() - timedelta(days=1),
            status="out",
            injury="knee",
            impact=Decimal("0.5"),
            updated_at=reported_at,
        ).save()
    )
    await days(stage)

    audit = await stage.bets.audit.run(NBA)

    found = [(leak.game_id, leak.row, leak.known_at) for leak in audit.leaks]
    assert ("g0", "injury sam_reed of los_angeles_lakers: out", reported_at) in found
    assert "matchup" in {leak.model for leak in audit.leaks}


async def test_nothing_is_published_after_the_start_and_what_stands_is_frozen(
    stage: Stage,
) -> None:
    await days(stage)
    before = stage.store(Prediction.of_game(NBA, "g0", "fanduel"))

    again = await stage.bets.analysis_generator.run(NBA)

    assert (again.games, again.published) == (0, 0)
    assert stage.store(Prediction.of_game(NBA, "g0", "fanduel")) == before
    assert all(row.as_of is not None and row.as_of < row.commence_time for row in before)
