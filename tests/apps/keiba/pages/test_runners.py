"""What a card's table says of a runner."""

from datetime import date
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.horses import PastRun
from grandstand.apps.keiba.domain.races import Outcome, Runner
from grandstand.apps.keiba.pages.base import (
    format_body_weight,
    format_points,
    format_sex_age,
    format_win_odds,
    number_badge,
    render_form_strip,
)
from grandstand.apps.keiba.pages.i18n import Locale

EN, JA = Locale.of("en"), Locale.of("ja")


def _run(position: int | None, outcome: Outcome = "finished") -> PastRun:
    return PastRun(
        date(2026, 10, 4), "東京", "特別", position=position, runner_count=16, outcome=outcome
    )


def test_a_strip_shows_the_last_five_runs_and_says_them_aloud() -> None:
    runs = [_run(1), _run(12), _run(None, "stopped"), _run(3), _run(2), _run(9)]

    shown = render_form_strip(runs, EN)

    assert 'aria-label="Form, newest first: 1/16, 12/16, PU/16, 3/16, 2/16"' in shown
    assert shown.count("<i ") == 5
    assert '<i class="run-1">1</i><i class="run-other">12</i><i class="run-none">PU</i>' in shown


def test_a_strip_speaks_the_language_of_the_page() -> None:
    assert ">中</i>" in render_form_strip([_run(None, "stopped")], JA)


def test_a_horse_that_never_ran_has_no_strip() -> None:
    assert "strip" not in render_form_strip([], EN)


@pytest.mark.parametrize(("frame", "kind"), [(4, "cap cap-4"), (None, "cap")])
def test_a_number_wears_the_colour_of_its_frame(frame: int | None, kind: str) -> None:
    assert f'class="{kind}"' in number_badge(7, frame)


def test_before_the_draw_there_is_no_number_to_wear_a_colour() -> None:
    assert number_badge(None, None) == ""


@pytest.mark.parametrize(
    ("value", "said"), [(12.06, "+12.1"), (-1.5, "\u22121.5"), (-0.04, "0"), (0.0, "0")]
)
def test_points_are_signed_and_nothing_is_nought(value: float, said: str) -> None:
    assert format_points(value) == said


def test_what_is_known_of_a_runner_is_written_short() -> None:
    runner = Runner(
        "2022100001", "ウマ", sex="gelding", age=5, body_weight=480, body_weight_change=-8
    )

    assert (format_sex_age(runner, EN), format_sex_age(runner, JA)) == ("gelding, 5", "セ5")
    assert format_body_weight(runner) == "480 (\u22128)"
    assert format_win_odds(Decimal("3.4")) == "3.4"
    assert format_body_weight(Runner("2022100001", "ウマ")) == "–"
