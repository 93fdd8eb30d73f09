"""What lock screens show can be asked for."""

import pytest

from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.service import TeamNotPlaying
from tests.apps.cricket.service.stage import Stage

pytestmark = pytest.mark.anyio


async def test_a_display_is_made_for_each_team_and_for_nobody_else(stage: Stage) -> None:
    await stage.upcoming(1)

    shown = await stage.cricket.display("100", "2")

    assert [team["code"] for team in shown.state["teams"]] == ["HIL", "HAR"]  # type: ignore[attr-defined]
    with pytest.raises(TeamNotPlaying):
        await stage.cricket.display("100", "9")
    with pytest.raises(MatchUnknown):
        await stage.cricket.display("999")
