"""A team or a match is found by a part of a name, a code or a league."""

import pytest

from tests.apps.cricket.domain.scorer import AWAY, HOME
from tests.apps.cricket.services.stage import ADA, MATCH, Stage, started

pytestmark = pytest.mark.anyio


@pytest.fixture
async def known(stage: Stage) -> Stage:
    """One match is kept, and it is on."""
    scorer = started()
    scorer.bowl(4)
    await stage.tick(scorer)
    await stage.cricket.fixture_sync.run()
    await stage.tick(scorer)
    return stage


async def test_a_team_leads_to_its_match_and_the_match_follows(known: Stage) -> None:
    asked = len(known.feed.asked)

    found = await known.cricket.fixtures.search(HOME.name.lower(), ADA)

    page = f"/cricket/matches/{MATCH}"
    assert [(one.kind, one.title, one.href) for one in found] == [
        ("team", HOME.name, page),
        ("match", f"{HOME.name} v {AWAY.name}", page),
    ]
    assert "4-0" in found[1].detail
    assert len(known.feed.asked) == asked


@pytest.mark.parametrize("words", ["big bash", AWAY.code.lower(), f"{HOME.code} {AWAY.code}"])
async def test_a_match_is_found_by_league_and_codes(known: Stage, words: str) -> None:
    found = await known.cricket.fixtures.search(words, ADA)

    assert f"/cricket/matches/{MATCH}" in {one.href for one in found if one.kind == "match"}


async def test_other_words_find_nothing(known: Stage) -> None:
    assert await known.cricket.fixtures.search("zebra", ADA) == ()
