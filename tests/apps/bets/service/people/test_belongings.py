"""Everything kept of a person can be taken along and erased, and nothing of anybody else."""

import json
from decimal import Decimal

import pytest

from grandstand.apps.bets.service import LimitsDraft, ModelDraft, WagerDraft
from tests.apps.bets.stage import ADA, BOB, LAKERS, NBA, Stage, game, h2h

pytestmark = pytest.mark.anyio


async def furnish(stage: Stage) -> None:
    draft = ModelDraft("Mine", NBA, ("h2h",), {"recent_form": Decimal(1)}, Decimal("0.5"))
    stage.odds.games = [game(h2h("fanduel", -150, 130))]
    await stage.bets.collect_odds(NBA)
    for caller in (ADA, BOB):
        await stage.bets.create_model(caller, draft)
        await stage.bets.like(caller, NBA, LAKERS)
        await stage.bets.add_dataset(caller, "Pace", NBA, b"team,pace\nLakers,101\n")
        await stage.bets.set_limits(caller, LimitsDraft(5_000))
        await stage.bets.record_wager(caller, WagerDraft("g1", "h2h", "home", -110, 1_000))


async def test_everything_of_a_person_is_exported(stage: Stage) -> None:
    await furnish(stage)

    told = {kind: value async for kind, value in stage.bets.belongings.export("ada")}

    assert sorted(told) == [
        "bet",
        "favourite team",
        "ledger entry",
        "limits",
        "model",
        "rows of figures",
        "table of figures",
    ]
    assert told["bet"]["stakeCents"] == 1_000
    assert "Lakers" in told["rows of figures"]["content"]
    assert json.loads(json.dumps(told["model"]))["dataSources"] == {"recent_form": 1.0}


async def test_erasing_leaves_nothing_and_spares_others(both: Stage) -> None:
    await furnish(both)

    gone = await both.bets.belongings.erase("ada")

    left = [kind async for kind, _ in both.bets.belongings.export("ada")]
    kept = [kind async for kind, _ in both.bets.belongings.export("bob")]
    proofs = [proof.book async for proof in both.bets.verify_every_ledger()]
    assert (gone, left, len(kept)) == (6, [], 7)
    assert proofs == ["user:bob"]
    assert await both.bets.belongings.erase("ada") == 0
