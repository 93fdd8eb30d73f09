"""What a form orders a replay to do."""

import pytest

from grandstand.apps.cricket.domain.replays import ReplayCommand
from grandstand.apps.cricket.pages.handlers import parse_command, parse_speed
from grandstand.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        ({"action": "pause", "ball": "12"}, ReplayCommand("pause")),
        ({"action": "play", "speed": "10"}, ReplayCommand("play", speed=10.0)),
        ({"action": "seek", "ball": "12"}, ReplayCommand("seek", ball=12)),
        ({"action": "seek", "ball": "far"}, ReplayCommand("seek")),
    ],
)
def test_a_form_orders_what_its_button_says(texts: dict[str, str], order: ReplayCommand) -> None:
    assert parse_command(texts) == order


@pytest.mark.parametrize("texts", [{}, {"action": "fly"}])
def test_what_no_replay_can_do_is_refused(texts: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        parse_command(texts)


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "1001", "nan"])
def test_what_is_no_speed_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_speed(text)
