"""Everything kept of a person can be taken along and erased, and nothing of anybody else."""

import json
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.ledger import BetLimits
from grandstand.apps.bets.services.user_models import UserModelRequest
from grandstand.apps.bets.services.wagers import WagerRequest
from tests.apps.bets.stage import ADA, BOB, LAKERS, NBA, Stage, game, h2h

pytestmark = pytest.mark.anyio


async def furnish(stage: Stage) -> None:
    draft = UserModelRequest("Mine", NBA, ("h2h",), {"recent_form": Decimal(1)}, Decimal("0.5"))
    stage.odds.games = [game(h2h("fanduel", -150, 130))]
    await stage.bets.odds_collector.collect(NBA)
    for caller in (ADA, BOB):
        await stage.bets.user_models.create(caller, draft)
        await stage.bets.favorites.add(caller, NBA, LAKERS)
        await stage.bets.datasets.add(caller, "Pace", NBA, b"team,pace\nLakers,101\n")
        await stage.bets.limits.update(caller, BetLimits(5_000))
        await stage.bets.wagers.record(caller, WagerRequest("g1", "h2h", "home", -110, 1_000))


async def test_everything_of_a_person_is_exported(stage: Stage) -> None:
    await furnish(stage)

    exported = {kind: value async for kind, value in stage.bets.personal_data.export("ada")}

    assert sorted(exported) == [
        "bet",
        "dataset",
        "dataset rows",
        "favorite team",
        "ledger entry",
        "limits",
        "model",
    ]
    assert exported["bet"]["stakeCents"] == 1_000
    assert "Lakers" in exported["dataset rows"]["content"]
    assert json.loads(json.dumps(exported["model"]))["dataSources"] == {"recent_form": 1.0}


async def test_erasing_leaves_nothing_and_spares_others(both: Stage) -> None:
    await furnish(both)

    gone = await both.bets.personal_data.erase("ada")

    left = [kind async for kind, _ in both.bets.personal_data.export("ada")]
    kept = [kind async for kind, _ in both.bets.personal_data.export("bob")]
    proofs = [proof.book async for proof in both.bets.ledger.verify_all()]
    assert (gone, left, len(kept)) == (6, [], 7)
    assert proofs == ["user:bob"]
    assert await both.bets.personal_data.erase("ada") == 0
