"""People's models are their own, five at most, run like the others, and weighed anew."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.records import FeedGame
from grandstand.apps.bets.services.user_models import TooManyModels, UserModelRequest
from grandstand.apps.bets.store.user_models import DatasetPart, UserModel
from grandstand.core.errors import InvalidInput, NotFound
from tests.apps.bets.stage import ADA, BOB, CELTICS, LAKERS, NBA, NOON, Stage, game, h2h, score

pytestmark = pytest.mark.anyio
DRAFT = UserModelRequest(
    "My model",
    NBA,
    ("h2h",),
    {"recent_form": Decimal("0.6"), "head_to_head": Decimal("0.4")},
    Decimal("0.5"),
    auto_adjust_weights=True,
)
TABLE = b"team,pace,rating\nLos Angeles Lakers,101.2,3\nBoston Celtics,98,5\n"


async def season(stage: Stage, games: int = 12) -> list[FeedGame]:
    """The Lakers win most of some games against the Celtics, one a day, until noon."""
    played = [
        game(
            h2h("fanduel", -150, 130),
            game_id=f"p{n}",
            starts=NOON - timedelta(days=games + 1 - n),
        )
        for n in range(games)
    ]
    stage.to(NOON - timedelta(days=games + 2))
    stage.odds.games = played
    await stage.bets.odds_collector.collect(NBA)
    stage.to(NOON)
    stage.odds.scores = [score(each, 112, 108 + 8 * (n % 4 == 0)) for n, each in enumerate(played)]
    await stage.bets.outcome_collector.collect(NBA)
    return played


async def test_a_model_is_its_owners_alone(both: Stage) -> None:
    made = await both.bets.user_models.create(ADA, DRAFT)

    revised = await both.bets.user_models.update(ADA, made.model_id, replace(DRAFT, name="Better"))
    paused = await both.bets.user_models.set_paused(ADA, made.model_id, paused=True)

    assert (revised.name, paused.status) == ("Better", "paused")
    assert await both.bets.user_models.list_models(ADA) == (paused,)
    assert await both.bets.user_models.list_models(BOB) == ()
    with pytest.raises(NotFound):
        await both.bets.user_models.get(BOB, made.model_id)
    with pytest.raises(NotFound):
        await both.bets.user_models.delete(BOB, made.model_id)
    await both.bets.user_models.delete(ADA, made.model_id)
    assert await both.bets.user_models.list_models(ADA) == ()


async def test_there_is_room_for_five_models_even_at_once(both: Stage) -> None:
    made = await asyncio.gather(
        *(both.bets.user_models.create(ADA, replace(DRAFT, name=f"Model {n}")) for n in range(5))
    )

    with pytest.raises(TooManyModels, match="maximum of 5 models"):
        await both.bets.user_models.create(ADA, DRAFT)
    await both.bets.user_models.delete(ADA, made[0].model_id)
    again = await both.bets.user_models.create(ADA, DRAFT)

    assert len(await both.bets.user_models.list_models(ADA)) == 5
    assert again.model_id != made[0].model_id


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"data_sources": {"recent_form": Decimal("0.5")}}, "add up to"),
        ({"data_sources": {"stars": Decimal(1)}}, "Unknown data source"),
        ({"bet_types": ()}, "At least one bet type"),
        ({"bet_types": ("corners",)}, "Unknown bet type"),
        ({"min_confidence": Decimal("0.99")}, "Invalid minimum confidence"),
        ({"name": "x"}, "characters"),
        ({"sport": "curling"}, "Unknown sport"),
        ({"datasets": {"none": Decimal(1)}}, "does not exist"),
    ],
)
async def test_a_model_that_cannot_be_run_is_refused_and_not_kept(
    stage: Stage, change: dict[str, object], why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        await stage.bets.user_models.create(ADA, replace(DRAFT, **change))  # type: ignore[arg-type]

    assert await stage.bets.user_models.list_models(ADA) == ()
    assert stage.store(UserModel.of_sport(NBA)) == []


async def test_a_model_predicts_either_side_is_verified_and_stays_private(stage: Stage) -> None:
    await season(stage)
    made = await stage.bets.user_models.create(ADA, DRAFT)
    paused = await stage.bets.user_models.create(BOB, DRAFT)
    await stage.bets.user_models.set_paused(BOB, paused.model_id, paused=True)
    home = game(h2h("fanduel", -150, 130), game_id="next")
    away = game(
        h2h("fanduel", -150, 130, CELTICS, LAKERS), game_id="back", home=CELTICS, away=LAKERS
    )
    stage.odds.games = [home, away]
    await stage.bets.odds_collector.collect(NBA)

    await stage.bets.analysis_generator.run(NBA)

    picks = (await stage.bets.user_models.picks(ADA, made.model_id)).items
    assert {(pick.game_id, pick.prediction) for pick in picks} == {
        ("next", LAKERS),
        ("back", LAKERS),
    }
    assert (await stage.bets.user_models.picks(BOB, paused.model_id)).items == ()
    with pytest.raises(NotFound):
        await stage.bets.predictions.picks(NBA, "fanduel", f"user:{made.model_id}")
    with pytest.raises(NotFound):
        await stage.bets.user_models.picks(BOB, made.model_id)
    stage.to(home.commence_time + timedelta(hours=3))
    stage.odds.scores = [score(home, 112, 108), score(away, 112, 108)]
    await stage.bets.outcome_collector.collect(NBA)
    done = await stage.bets.scoreboard.user_model_performance(ADA, made.model_id)
    assert (done.decided, done.correct) == (2, 1)


async def test_only_models_that_allow_it_are_weighed_anew_and_weights_still_add_up(
    stage: Stage,
) -> None:
    fixed = await stage.bets.user_models.create(ADA, replace(DRAFT, auto_adjust_weights=False))
    open_ = await stage.bets.user_models.create(ADA, replace(DRAFT, name="Open"))
    await season(stage, 6)
    more = [
        game(h2h("fanduel", -150, 130), game_id=f"m{n}", starts=NOON + timedelta(hours=2 + n))
        for n in range(12)
    ]
    stage.odds.games = more
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.analysis_generator.run(NBA)
    stage.to(NOON + timedelta(days=1))
    stage.odds.scores = [score(each, 112, 108) for each in more]
    await stage.bets.outcome_collector.collect(NBA)

    changed = await stage.bets.weight_adjuster.run()

    after = await stage.bets.user_models.get(ADA, open_.model_id)
    assert sum(after.data_sources.values()) == 1
    assert changed == (after.data_sources != DRAFT.data_sources)
    assert changed == 1
    assert (
        await stage.bets.user_models.get(ADA, fixed.model_id)
    ).data_sources == DRAFT.data_sources


async def test_a_model_counts_the_figures_a_person_brought_by_the_names_teams_have(
    stage: Stage,
) -> None:
    table = await stage.bets.datasets.add(ADA, "Rating", NBA, TABLE)
    own = replace(
        DRAFT, data_sources={"custom_data": Decimal(1)}, datasets={table.dataset_id: Decimal(1)}
    )
    made = await stage.bets.user_models.create(ADA, own)
    stage.odds.games = [game(h2h("fanduel", -150, 130))]
    await stage.bets.odds_collector.collect(NBA)

    await stage.bets.analysis_generator.run(NBA)

    (pick,) = (await stage.bets.user_models.picks(ADA, made.model_id)).items
    assert pick.prediction == CELTICS


async def test_a_table_of_figures_is_kept_whole_or_not_at_all(both: Stage) -> None:
    kept = await both.bets.datasets.add(ADA, "Pace", NBA, TABLE)

    with pytest.raises(InvalidInput):
        await both.bets.datasets.add(ADA, "Broken", NBA, b"team,pace\nLakers,1\nCeltics\n")
    with pytest.raises(InvalidInput, match="bytes"):
        await both.bets.datasets.add(ADA, "Large", NBA, b"x" * 4_000_001)
    with pytest.raises(NotFound):
        await both.bets.datasets.remove(BOB, kept.dataset_id)

    assert (kept.subject, kept.rows) == ("team", 2)
    assert await both.bets.datasets.list_datasets(ADA) == (kept,)
    assert len(both.store(DatasetPart.of_dataset(kept.dataset_id))) == 1
    await both.bets.datasets.remove(ADA, kept.dataset_id)
    assert both.store(DatasetPart.of_dataset(kept.dataset_id)) == []
