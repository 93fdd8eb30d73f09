"""What lock screens show can be asked for."""

import pytest

from grandstand.apps.cricket.domain.errors import MatchNotFound, TeamNotPlaying
from tests.apps.cricket.services.stage import Stage

pytestmark = pytest.mark.anyio


async def test_a_display_is_made_for_each_team_and_for_nobody_else(stage: Stage) -> None:
    await stage.upcoming(1)

    shown = await stage.cricket.displays.get("100", "2")

    assert [team["code"] for team in shown.state["teams"]] == ["HIL", "HAR"]  # type: ignore[attr-defined]
    with pytest.raises(TeamNotPlaying):
        await stage.cricket.displays.get("100", "9")
    with pytest.raises(MatchNotFound):
        await stage.cricket.displays.get("999")
