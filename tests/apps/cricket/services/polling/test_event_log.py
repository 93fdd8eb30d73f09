"""What was detected in a match can be read."""

import pytest

from tests.apps.cricket.services.stage import MATCH, Stage

pytestmark = pytest.mark.anyio


async def test_events_are_read_newest_first_page_by_page(stage: Stage) -> None:
    scorer = await stage.on_air()
    scorer.bowl(6)
    scorer.out(then=13)
    await stage.tick(scorer)

    first = await stage.cricket.event_bus.page(MATCH, limit=2)
    rest = await stage.cricket.event_bus.page(MATCH, limit=50, cursor=first.cursor)

    seqs = [each.seq for each in (*first.events, *rest.events)]
    filtered = {each.kind: each.filtered for each in (*first.events, *rest.events)}
    assert seqs == sorted(seqs, reverse=True)
    assert (filtered["wicket"], filtered["six"]) == (None, "outranked")
