"""Charts and scorecards say what the balls say."""

from dataclasses import replace
from decimal import Decimal

from grandstand.apps.cricket.domain.matches import BattingLine, Board, InningsScore
from grandstand.apps.cricket.pages.scorecard import (
    build_sheets,
    group_overs,
    innings_labels,
    rate_chart,
    worm_chart,
)
from tests.apps.cricket.domain.scorer import Scorer


def _bowled(*innings: tuple[int, ...]) -> Scorer:
    scorer = Scorer(status="1st Innings")
    for number, runs in enumerate(innings, start=1):
        scorer.innings(number, "2nd Innings" if number == 2 else "1st Innings")
        for each in runs:
            scorer.bowl(each)
    return scorer


def test_overs_add_up_to_the_innings_and_begin_anew_with_the_next() -> None:
    scorer = _bowled((1,) * 8, (4, 4))

    overs = group_overs(scorer.fixture().balls)

    assert [(one.inning, one.number, one.runs, one.total) for one in overs] == [
        (1, 0, 6, 6),
        (1, 1, 2, 8),
        (2, 0, 8, 8),
    ]
    assert [one.legal_balls for one in overs] == [6, 8, 2]


def test_a_wide_costs_a_run_and_no_ball() -> None:
    scorer = _bowled((1, 2))
    scorer.bowl(0, extra="wide", extras=1)

    (over,) = group_overs(scorer.fixture().balls)

    assert (over.total, over.legal_balls, len(over.balls)) == (4, 2, 3)


def test_the_worm_begins_at_nothing_and_marks_overs_with_a_wicket() -> None:
    scorer = _bowled((1,) * 6)
    scorer.bowl(0, wicket=True, credited=True)
    fixture = scorer.fixture()

    chart = worm_chart(fixture, group_overs(fixture.balls))

    line, wickets = chart.plots
    assert line.rows == ((0.0, 0), (1.0, 6), (1.167, 6))
    assert wickets.rows == ((1.167, 6),)


def test_a_chase_shows_what_it_needed_an_over() -> None:
    scorer = _bowled((6,) * 6, (1,) * 6)
    fixture = scorer.fixture()

    chart = rate_chart(fixture, group_overs(fixture.balls))

    by_name = {plot.name: plot.rows for plot in chart.plots}
    assert by_name["HAR"] == ((1.0, 36.0),)
    assert by_name["HIL"] == ((1.0, 6.0),)
    assert by_name["HIL required"] == ((1.0, round((37 - 6) / 19, 2)),)


def test_a_second_innings_of_a_team_has_a_name_of_its_own() -> None:
    scores = tuple(
        InningsScore(team, number, 100, 2, Decimal(20))
        for number, team in enumerate(("1", "2", "2", "1"), start=1)
    )

    names = innings_labels(replace(Scorer(format="Test").fixture(), innings=scores))

    assert names == {1: "HAR", 2: "HIL", 3: "HIL (2)", 4: "HAR (2)"}


def test_a_scorecard_says_how_each_batter_got_out() -> None:
    scorer = _bowled((4,))
    scorer.bowl(0, wicket=True, credited=True, out_id=11, how="Catch Out")
    lines = (BattingLine(11, 1, 4, 2, 1, 0, True, 4, Decimal("0.2")),)
    board = Board(1, (*lines, BattingLine(12, 1, 0, 0, 0, 0, out=False)))
    names = {11: "A Batter", 12: "B Batter", 21: "C Bowler"}
    fixture = replace(scorer.fixture(), boards=(board,), players=names)

    (sheet,) = build_sheets(fixture)

    assert [row.dismissal for row in sheet.batting] == ["caught, b C Bowler", "not out"]
    assert sheet.batting[0].strike_rate == "200.0"
    assert sheet.wickets == ("1-4 (A Batter, 0.2)",)
