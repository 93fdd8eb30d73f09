"""Search for scenarios, and forecasts on the scoreboard."""

import pytest

from grandstand.kit.app import SearchHit
from grandstand.kit.calibration import ResolvedForecast
from tests.apps.trainer.stage import ADA, BOB, Stage, given, on_sqlite

pytestmark = pytest.mark.anyio


@on_sqlite
async def test_a_scenario_is_found_by_its_title_before_others_that_speak_of_it(
    stage: Stage,
) -> None:
    by_title = await stage.trainer.scenarios.search("hospitals", ADA)
    by_tag = await stage.trainer.scenarios.search("forecast", ADA)
    by_text = await stage.trainer.scenarios.search("newspaper ranks", ADA)

    hospitals = SearchHit(
        "scenario", "Two hospitals", "Beginner, about 20 min", "/trainer/scenarios/two-hospitals"
    )
    assert by_title[0] == hospitals
    assert [one.title for one in by_tag] == ["A battery plant"]
    assert by_text == (hospitals,)
    assert await stage.trainer.scenarios.search("zebra", ADA) == ()


@on_sqlite
async def test_a_forecast_whose_outcome_is_known_counts_for_whoever_gave_it(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(
        ADA.user_id, "battery-plant", given("I say score 3, it is late", percent=30)
    )

    [mine] = await stage.trainer.profiles.calibration(ADA)
    [others] = await stage.trainer.profiles.calibration(BOB)

    assert (mine.whose, mine.href, mine.said) == (
        "yours",
        "/trainer/profile",
        (ResolvedForecast(0.3, happened=False),),
    )
    assert others.said == ()
