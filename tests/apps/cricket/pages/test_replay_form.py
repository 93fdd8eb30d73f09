"""What a form orders a replay to do."""

import pytest

from grandstand.apps.cricket.pages.handlers import parse_command, parse_speed
from grandstand.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        ({"action": "pause", "ball": "12"}, ("pause", None, None)),
        ({"action": "play", "speed": "10"}, ("play", 10.0, None)),
        ({"action": "seek", "ball": "12"}, ("seek", None, 12)),
        ({"action": "seek", "ball": "far"}, ("seek", None, None)),
    ],
)
def test_a_form_orders_what_its_button_says(texts: dict[str, str], order: object) -> None:
    assert parse_command(texts) == order


@pytest.mark.parametrize("texts", [{}, {"action": "fly"}])
def test_what_no_replay_can_do_is_refused(texts: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        parse_command(texts)


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "1001", "nan"])
def test_what_is_no_speed_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_speed(text)
