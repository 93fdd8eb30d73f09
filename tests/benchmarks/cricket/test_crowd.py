"""What the benchmark of cricket stands on does the work it claims to measure."""

import pytest

from benchmarks.cricket.crowd import delivered_by
from benchmarks.cricket.matches import Look, looks_at, wickets_of
from benchmarks.cricket.pace import sinking

_SHORT_MATCH = 1178424

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def looks() -> list[Look]:
    return looks_at(_SHORT_MATCH)


def test_a_look_holds_no_more_balls_than_a_poller_reads(looks: list[Look]) -> None:
    most = max(len(look.fixture.balls) for look in looks)

    assert 30 <= most <= 32


def test_each_wicket_is_news_after_a_look_without_it(looks: list[Look]) -> None:
    found = wickets_of(looks)

    fallen = [
        (before.fixture.innings[-1].wickets, after.fixture.innings[-1].wickets)
        for before, after in found
    ]
    assert fallen
    assert all(before + 1 == after for before, after in fallen)


@pytest.mark.parametrize(("channel", "pushes"), [(None, 12), ("Y2hhbm5lbA==", 1)])
async def test_a_wicket_is_a_push_to_each_session_or_one_to_their_channel(
    looks: list[Look], channel: str | None, pushes: int
) -> None:
    wicket = wickets_of(looks)[0]

    with sinking("0") as sink:
        sent = await delivered_by(sink, wicket, 12, channel)

    assert sent == pushes
