"""One event of a tick is told: fresh, not cooling down, the best in rank, and the latest."""

from datetime import timedelta

from grandstand.apps.cricket.domain.match_events import (
    ALERTING,
    EVENT_KINDS,
    PRIORITIES,
    CooldownFilter,
    FilteredEvents,
    MatchEvent,
    Thresholds,
)
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.domain.watcher import NOON

SCORER = Scorer(status="1st Innings")
SCORER.bowl(6)
SEEN = SCORER.fixture()
SIX = MatchEvent("six", "six:1000", "SIX!", 1, 1, player_id=11)
FOUR = MatchEvent("four", "four:1001", "Four", 1, 1, player_id=11)


def _filtered(
    *events: MatchEvent, after: FilteredEvents | None = None, seconds: float = 0
) -> FilteredEvents:
    cooldowns = after.cooldowns if after else {}
    at = NOON + timedelta(seconds=seconds)
    return CooldownFilter(Thresholds()).apply(events, SEEN, 1, cooldowns, now=at)


def test_every_kind_has_a_rank_and_only_some_alert() -> None:
    assert set(PRIORITIES) == set(EVENT_KINDS)
    assert PRIORITIES["match_end"] < PRIORITIES["hattrick"] < PRIORITIES["wicket"]
    assert set(EVENT_KINDS) - ALERTING >= {"six", "four", "over_end", "maiden", "on_hattrick"}


def test_the_best_in_rank_is_told_and_the_other_is_outranked() -> None:
    filtered = _filtered(FOUR, SIX)

    assert filtered.key_event == SIX
    assert [event.filtered for event in filtered.events] == ["outranked", None]


def test_a_kind_that_was_told_cools_down() -> None:
    first = _filtered(SIX)

    soon = _filtered(SIX, after=first, seconds=19)
    later = _filtered(SIX, after=first, seconds=20)

    assert (soon.key_event, soon.events[0].filtered) == (None, "cooldown")
    assert later.key_event == SIX


def test_what_was_not_told_does_not_cool_down() -> None:
    first = _filtered(FOUR, SIX)

    soon = _filtered(FOUR, after=first, seconds=5)

    assert soon.key_event == FOUR
    assert set(soon.cooldowns) == {"six", "four"}


def test_a_cooldown_that_is_over_is_forgotten() -> None:
    first = _filtered(SIX)

    later = _filtered(after=first, seconds=600)

    assert later.cooldowns == {}


def test_a_player_cools_down_alone() -> None:
    fires = [
        MatchEvent("batsman_on_fire", f"batsman_on_fire:{n}", "", 1, 1, player_id=n)
        for n in (11, 12)
    ]

    first = _filtered(fires[0])
    other = _filtered(fires[1], after=first, seconds=1)
    again = _filtered(fires[0], after=first, seconds=1)

    assert other.key_event == fires[1]
    assert again.events[0].filtered == "cooldown"
