"""What a form orders a replay to do."""

import pytest

from grandstand.apps.cricket.model.replays import ReplayOrder
from grandstand.apps.cricket.pages.hub import order_of, speed_of
from grandstand.base.errors import InvalidInput


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        ({"action": "pause", "ball": "12"}, ReplayOrder("pause")),
        ({"action": "play", "speed": "10"}, ReplayOrder("play", speed=10.0)),
        ({"action": "seek", "ball": "12"}, ReplayOrder("seek", ball=12)),
        ({"action": "seek", "ball": "far"}, ReplayOrder("seek")),
    ],
)
def test_a_form_orders_what_its_button_says(texts: dict[str, str], order: ReplayOrder) -> None:
    assert order_of(texts) == order


@pytest.mark.parametrize("texts", [{}, {"action": "fly"}])
def test_what_no_replay_can_do_is_refused(texts: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        order_of(texts)


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "1001", "nan"])
def test_what_is_no_speed_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        speed_of(text)
