"""Score is kept by the laws: what is the batter's, the bowler's, and nobody's."""

from __future__ import annotations

import pytest

from grandstand.simulators.scores.match_record import Delivery, Dismissal
from grandstand.simulators.scores.matches import RECORDED_MATCHES, read_recorded_match
from grandstand.simulators.scores.scorecard import InningsSheet, Scorebook
from grandstand.simulators.scores.timeline import Correction
from tests.simulators.scores.feed_server import ADA, BEA, CLEO, GRACE, delivery


def sheet_of(*balls: Delivery) -> InningsSheet:
    sheet = InningsSheet(1)
    for ball in balls:
        sheet.add(ball)
    return sheet


def test_a_wide_is_the_bowlers_and_not_faced() -> None:
    sheet = sheet_of(delivery(wides=2), delivery(runs=1))

    assert (sheet.runs, sheet.overs) == (3, 0.1)
    assert sheet.batting[ADA.id].balls == 1
    assert (sheet.bowling[GRACE.id].runs, sheet.bowling[GRACE.id].wides) == (3, 2)


def test_a_no_ball_is_faced_and_does_not_count() -> None:
    sheet = sheet_of(delivery(noballs=1, runs=4, boundary=True))

    assert (sheet.runs, sheet.overs) == (5, 0)
    assert (sheet.batting[ADA.id].balls, sheet.batting[ADA.id].fours) == (1, 1)
    assert (sheet.bowling[GRACE.id].runs, sheet.bowling[GRACE.id].noballs) == (5, 1)


def test_byes_are_nobodys() -> None:
    sheet = sheet_of(delivery(byes=4), delivery(number=2, legbyes=1))

    assert sheet.runs == 5
    assert sheet.batting[ADA.id].runs == 0
    assert sheet.bowling[GRACE.id].runs == 0
    assert (sheet.extras.byes, sheet.extras.legbyes) == (4, 1)


def test_a_run_out_is_not_the_bowlers_and_may_be_of_the_partner() -> None:
    sheet = sheet_of(delivery(runs=1, dismissal=Dismissal(BEA, "run out")))

    assert sheet.wickets == 1
    assert sheet.bowling[GRACE.id].wickets == 0
    assert sheet.batting[BEA.id].out
    assert sheet.batting[BEA.id].fall_score == 1


def test_somebody_who_retired_hurt_may_come_back() -> None:
    hurt = delivery(dismissal=Dismissal(ADA, "retired hurt"))
    back = delivery(number=2, runs=2)

    left, returned = sheet_of(hurt), sheet_of(hurt, back)

    assert left.wickets == returned.wickets == 0
    assert left.batting[ADA.id].left is not None
    assert returned.batting[ADA.id].left is None


def test_six_clean_balls_are_a_maiden_and_byes_do_not_spoil_it() -> None:
    clean = [delivery(number=number) for number in range(1, 6)]

    assert sheet_of(*clean, delivery(number=6, byes=1)).bowling[GRACE.id].maidens == 1
    assert sheet_of(*clean, delivery(number=6, runs=1)).bowling[GRACE.id].maidens == 0
    assert sheet_of(*clean).bowling[GRACE.id].maidens == 0


def test_overs_are_written_whole_when_they_are_done() -> None:
    over = [delivery(number=number) for number in range(1, 7)]

    assert sheet_of(*over[:5]).overs == 0.5
    assert sheet_of(*over).overs == 1
    assert sheet_of(*over, delivery(over=1, wides=1)).overs == 1
    assert sheet_of(*over, delivery(over=1)).overs == 1.1


def test_who_comes_in_has_a_line_from_their_first_ball_on() -> None:
    out = delivery(dismissal=Dismissal(ADA, "bowled"))

    sheet = sheet_of(out, delivery(number=2, batter=CLEO))

    assert list(sheet.batting) == [ADA.id, BEA.id, CLEO.id]


def sums(sheet: InningsSheet) -> tuple[int, int]:
    """Runs and wickets by the lines of bowlers and batters, with what is nobody's."""
    extras = sheet.extras
    bowled = sum(line.runs for line in sheet.bowling.values())
    lost = sum(line.out for line in sheet.batting.values())
    return bowled + extras.byes + extras.legbyes + extras.penalty, lost


@pytest.mark.parametrize("number", RECORDED_MATCHES)
def test_figures_add_up_after_every_ball_of_a_real_match(number: int) -> None:
    record = read_recorded_match(number)
    book = Scorebook(record)

    wrong = [
        shown
        for shown in range(1, len(record.deliveries) + 1)
        for sheet in book.after(shown)[-1:]
        if sums(sheet) != (sheet.runs, sheet.wickets)
    ]

    assert wrong == []


def test_going_back_gives_the_same_as_going_on() -> None:
    record = read_recorded_match(1001349)
    book = Scorebook(record)
    early = [sheet.copy() for sheet in book.after(100)]

    book.after(200)

    assert [*book.after(100)] == early


def test_a_slip_is_shown_and_leaves_no_trace() -> None:
    record = read_recorded_match(1001349)
    book, other = Scorebook(record), Scorebook(record)
    wrong = delivery(over=8, number=4, runs=6, batter=record.deliveries[50].batter)

    slipped = book.after(51, Correction(wrong))

    assert slipped[-1].runs == other.after(50)[-1].runs + 6
    assert book.after(51) == other.after(51)
