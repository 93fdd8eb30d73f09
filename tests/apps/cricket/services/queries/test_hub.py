"""Administrators see what is polled and pushed."""

from functools import partial

import pytest

from grandstand.apps.cricket.services.queries.admin import PipelineLags
from tests.apps.cricket.services.stage import ADA, Stage

pytestmark = pytest.mark.anyio


async def test_the_hub_shows_what_is_polled_and_pushed(stage: Stage) -> None:
    scorer = await stage.on_air()
    await stage.with_activity(ADA)
    scorer.bowl(4)
    stage.feed.while_asked = partial(stage.clock.advance, 0.4)
    stage.phones.while_pushed = partial(stage.clock.advance, 2)
    await stage.tick(scorer)

    hub = await stage.cricket.hub.get()

    (match,) = hub.matches
    assert (match.title, match.owner, match.seq) == ("Harbour Town v Hill City", "one", 2)
    assert (match.sessions, match.lag_seconds) == ({"active": 1}, 2.0)
    assert match.lags == PipelineLags(0.4, 0.0, 0.0, 2.0)
    assert match.last_push is not None
    assert (match.last_push.pushed, hub.pushed, hub.pushing) == (1, 2, True)
