"""What is kept and what is sent of a real match stays small, from its first ball to its last."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grandstand.apps.cricket.domain.display import (
    DisplayMoment,
    build_display_state,
    encode_content_state,
)
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.storage.tables.attribute_values import item_size
from tests.apps.cricket.tapes.tape_reader import START, closely

NAMES = ["1001349", "1370353", "1178424", "1000853"]
KEPT_BYTES = 8 * 1024
# Of 4,096 bytes that may be sent, the envelope with an alert takes some.
SENT_BYTES = 4_096 - 600


@pytest.mark.parametrize("name", NAMES)
def test_the_record_of_a_match_stays_small(name: str) -> None:
    states = [tick.state for _, tick in closely(name).ticks[::7]]

    sizes = [
        item_size(
            ActiveMatch.__plan__.encode(
                ActiveMatch(
                    match_id=state.match_id,
                    status="active",
                    previous_ball_id=state.ball_id,
                    previous_score=state.score,
                    previous_status=state.status,
                    previous_batting=state.batting,
                    previous_bowling=state.bowling,
                    last_30_balls=state.balls,
                    cooldowns=dict(state.cooldowns),
                    memory=state.memory,
                    seq=state.seq,
                    epoch=1,
                )
            )
        )
        for state in states
    ]

    assert 1_000 < max(sizes) <= KEPT_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_what_a_lock_screen_shows_stays_small(name: str) -> None:
    log = closely(name)
    seen = [(moment, tick) for moment, tick in log.ticks if tick.changed][::7]

    shown = [
        encode_content_state(
            build_display_state(
                log.telling.fixture(moment),
                DisplayMoment(START + timedelta(seconds=moment.at), tick.state.seq, tick.key_event),
            )
        )
        for moment, tick in seen
    ]

    assert 500 < max(map(len, shown)) <= SENT_BYTES
