"""Bets at a terminal, on two days of games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grandstand.apps.bets.domain.ledger import StakeLimitReached, TimeOutActive
from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput, NotFound, SourceFailed
from tests.apps.bets.cli.runner import Saying, saying
from tests.apps.bets.scene import BEGUN, season_csv
from tests.apps.bets.stage import NBA, ScriptedOdds

WEIGHTS = ("--weight", "recent_form=0.6", "-w", "rest_schedule=0.4")
HOME_AT = ("--side", "home", "--price")


@pytest.fixture(scope="module")
def say(tmp_path_factory: pytest.TempPathFactory) -> Saying:
    """A terminal whose commands only read, or write what no other test looks at."""
    return saying(tmp_path_factory.mktemp("bets"))


@pytest.fixture(scope="module")
def season(say: Saying) -> Path:
    """A season in a file, taken in already."""
    file = say.file.parent / "E0.csv"
    file.write_bytes(season_csv())
    assert say("import", str(file)).exit_code == 0
    return file


def test_games_are_listed_soonest_first_with_the_fullest_books_prices(say: Saying) -> None:
    lines = say("games").stdout.splitlines()
    told = json.loads(say("games", "--sport", "nba", "--json").stdout)

    assert lines[1].split()[-1] == "soon"
    assert "fanduel" in lines[1]
    assert {"+150", "-170", "-3.5", "218.5"} <= set(lines[1].split())
    assert [each["game_id"] for each in told] == ["soon", "later"]


def test_a_narrow_terminal_gets_fewer_columns_and_no_line_too_long(say: Saying) -> None:
    narrow = say("games", width=50).stdout

    assert "fanduel" not in narrow
    assert max(map(len, narrow.splitlines())) <= 50


def test_a_game_shows_every_book_with_its_age_and_each_models_view(say: Saying) -> None:
    shown = say("game", "soon", "--reasons").stdout
    over = say("game", "over").stdout

    assert "Los Angeles Lakers -120, Boston Celtics +105" in shown
    assert "Jayson Tatum: Over 25.5 -115" in shown
    assert "ensemble: Boston Celtics" in shown
    assert "Meetings: Los Angeles Lakers 110-100 Boston Celtics" in shown
    assert "Final score: 110 to 100" in over
    assert "before the start" in over


def test_a_line_is_shown_as_it_moved(say: Saying) -> None:
    moved = say("odds", "soon", "--book", "draftkings").stdout
    none = say("odds", "soon", "--market", "outright").stdout

    assert moved.index("Los Angeles Lakers +148") < moved.index("Los Angeles Lakers -120")
    assert "Markets of the game: h2h, player_points, spreads, totals" in none


def test_predictions_are_shown_by_model_and_the_best_of_all_without_one(say: Saying) -> None:
    shown = say("analyses", "ensemble").stdout
    best = json.loads(say("analyses", "--json").stdout)

    assert "Denver Nuggets v Phoenix Suns" in shown
    assert [each["prediction"] for each in best] == ["Los Angeles Lakers"]
    assert isinstance(say("analyses", "oracle").exception, NotFound)


def test_the_scoreboard_gives_bounds_and_says_where_there_are_too_few_bets(say: Saying) -> None:
    board = say("scoreboard").stdout
    one = say("scoreboard", "consensus").stdout
    advice = say("adjustments").stdout

    assert "66.7 % (21 to 94)" in board
    assert "not enough bets" in board
    assert "3 predictions, 3 decided" in one
    assert "break-even" in one
    assert "× 1.00" in advice


def test_an_audit_of_honest_predictions_finds_nothing(say: Saying) -> None:
    shown = say("audit", "--sport", "nba")
    told = json.loads(say("audit", "--sport", "nba", "--json").stdout)[0]

    assert shown.exit_code == 0
    assert told["checked"] == told["same"] > 0
    assert f"{told['checked']} predictions rerun" in shown.stdout


def test_benny_is_shown_with_his_money_his_bets_and_his_rules(say: Saying) -> None:
    shown = say("benny").stdout
    told = json.loads(say("benny", "--json").stdout)
    shadow = say("benny", "--shadow").stdout

    cents = told["profit_cents"]
    assert told["bankroll_cents"] == 10_000 + cents
    assert f"+${cents / 100:.2f}" in shown
    assert "return if bet" in shown
    assert "too few books" in shadow


def test_a_ledger_that_balances_is_told_so(say: Saying) -> None:
    verified = say("ledger", "verify", "benny")

    assert verified.exit_code == 0
    assert "benny: 3 entries, balances" in verified.stdout


def test_a_season_is_taken_in_once_and_walked(say: Saying, season: Path) -> None:
    again = say("import", str(season), "--sport", "epl").stdout
    walked = say("backtest-builtin", "elo", "2025-10-21", "2025-12-31", "-s", "epl")

    assert "58 received, 0 written" in again
    assert walked.exit_code == 0
    assert "elo, soccer_epl, 2025-10-21 to 2025-12-31: 58 games" in walked.stdout
    assert "after 1 trial in this sport" in walked.stdout


def test_what_cannot_be_walked_is_refused_with_the_reason(say: Saying) -> None:
    backwards = say("backtest-builtin", "elo", "2025-12-31", "2025-10-21", "-s", "epl")

    assert isinstance(backwards.exception, InvalidInput)
    assert isinstance(
        say("backtest-builtin", "nobody", "2025-10-21", "2025-12-31").exception, NotFound
    )
    assert isinstance(
        say("backtest-builtin", "elo", "yesterday", "2025-12-31").exception, InvalidInput
    )


def test_a_model_is_made_back_tested_paused_and_removed(say: Saying, season: Path) -> None:
    made = json.loads(say("models", "create", "Form", *WEIGHTS, "-s", "epl", "--json").stdout)
    model_id = made["model_id"]
    tested = say("backtest", model_id, "2025-10-21", "2025-12-31", "--user", "owner")
    paused = say("models", "pause", model_id).stdout
    kept = say("models", "remove", model_id, typed="n\n")
    listed = say("models", "list").stdout
    gone = say("models", "remove", model_id, "--yes").stdout

    assert season.exists()
    assert "Form, soccer_epl, 2025-10-21 to 2025-12-31" in tested.stdout
    assert paused == "Form is paused\n"
    assert (kept.exit_code, "recent_form 60 %" in listed) == (1, True)
    assert gone == "Form is removed\n"
    assert "No models." in say("models", "list").stdout


def test_a_model_whose_weights_do_not_add_up_is_refused_and_not_kept(say: Saying) -> None:
    refused = say("models", "create", "Form", "-w", "recent_form=0.6")
    unwritten = say("models", "create", "Form", "-w", "recent_form")

    assert isinstance(refused.exception, InvalidInput)
    assert isinstance(unwritten.exception, InvalidInput)
    assert json.loads(say("models", "list", "--json").stdout) == []


def test_a_table_of_figures_is_brought_listed_and_removed(say: Saying, tmp_path: Path) -> None:
    file = tmp_path / "pace.csv"
    file.write_text("team,pace\nLos Angeles Lakers,101\nBoston Celtics,98\n")
    none = say("data", "list").stdout

    made = json.loads(say("data", "add", str(file), "--json").stdout)
    listed = say("data", "list").stdout
    kept = say("data", "remove", made["dataset_id"], typed="n\n")
    gone = say("data", "remove", made["dataset_id"], "--yes")

    assert "No datasets." in none
    assert (made["name"], made["rows"], made["columns"]) == ("pace", 2, ["pace"])
    assert made["dataset_id"] in listed
    assert (kept.exit_code, gone.exit_code) == (1, 0)
    assert say("data", "list", "--json").stdout.strip() == "[]"


def test_a_table_that_is_none_is_refused_with_the_line(say: Saying, tmp_path: Path) -> None:
    file = tmp_path / "pace.csv"
    file.write_text("team,pace\nLos Angeles Lakers,101\nBoston Celtics\n")

    refused = say("data", "add", str(file))

    assert isinstance(refused.exception, InvalidInput)
    assert "line 3" in str(refused.exception)


def test_a_team_is_liked_and_no_longer(say: Saying) -> None:
    say("favorites", "add", "Boston Celtics", "--sport", "nba")

    listed = json.loads(say("favorites", "list", "--json").stdout)
    first = say("favorites", "remove", "boston celtics").stdout
    again = say("favorites", "remove", "Boston Celtics").stdout

    assert [(each["sport"], each["team"]) for each in listed] == [(NBA, "Boston Celtics")]
    assert "Removed." in first
    assert "It was not a favorite team." in again
    assert "No favorite teams." in say("favorites", "list").stdout


def test_bets_are_recorded_listed_and_taken_back(say: Saying) -> None:
    who = ("--user", "cleo")
    say("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "15.50", *who)
    listed = json.loads(say("wagers", "list", *who, "--json").stdout)
    wager_id = listed["wagers"][0]["wager_id"]
    table = say("wagers", "list", *who).stdout
    back = say("wagers", "remove", wager_id, *who, typed="y\n")

    assert listed["wagers"][0]["stake_cents"] == 1550
    assert "1 bet, 1 open with $15.50" in table
    assert back.exit_code == 0
    assert "No bets." in say("wagers", "list", *who).stdout


def test_a_file_of_bets_is_taken_once_and_its_bad_lines_are_named(
    say: Saying, tmp_path: Path
) -> None:
    file = tmp_path / "bets.csv"
    file.write_text("game_id,market,side,price,stake\nsoon,h2h,home,150,5\nsoon,h2h,home,50,5\n")

    first = say("wagers", "import", str(file), "--user", "dora")
    again = say("wagers", "import", str(file), "--user", "dora")
    not_one = say("wagers", "import", str(say.file), "--user", "dora")

    assert (first.exit_code, again.exit_code) == (1, 1)
    assert "1 bet recorded, 0 already recorded" in first.stdout
    assert "! line 3: Invalid American price 50" in first.stderr
    assert "0 bets recorded, 1 already recorded" in again.stdout
    assert isinstance(not_one.exception, InvalidInput)


def test_limits_stand_against_a_bet_and_loosen_only_a_day_later(say: Saying) -> None:
    who = ("--user", "eve")
    say("limits", "--bet", "10", "--week", "100", *who)
    refused = say("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "15.50", *who)
    loosened = say("limits", "--bet", "none", *who).stdout

    assert isinstance(refused.exception, StakeLimitReached)
    assert "stake per bet   at most $10.00" in loosened
    assert "looser limits apply from 2026-02-12 13:00 UTC" in loosened


def test_time_out_is_asked_about_and_cannot_be_shortened(say: Saying) -> None:
    who = ("--user", "finn")
    asked = say("time-out", "3d", *who, typed="n\n")
    before = say("limits", *who).stdout
    say("time-out", "3d", "--yes", *who)
    shorter = say("time-out", "1h", "--yes", *who).stdout
    refused = say("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "5", *who)

    assert asked.exit_code == 1
    assert "time-out" not in before
    assert "time-out until  2026-02-14 13:00 UTC" in shorter
    assert isinstance(refused.exception, TimeOutActive)


def test_the_tools_find_what_lies_between_the_books(say: Saying) -> None:
    arbitrage = say("tools", "arbitrage").stdout
    middles = say("tools", "middles").stdout
    stale = say("tools", "stale").stdout
    best = json.loads(say("tools", "best", "soon", "--json").stdout)

    assert "+12.94 % profit" in arbitrage
    assert "both win between 218.5 and 223.5, else -4.55 %" in middles
    assert "fanduel" in stale.splitlines()[1]
    assert {each["game_id"] for each in best} == {"soon"}
    assert max(each["expected_return"] for each in best) > 0.2


def test_the_margin_is_taken_out_of_prices_that_begin_with_a_minus(say: Saying) -> None:
    fair = json.loads(
        say("tools", "fair", "-150", "130", "--method", "multiplicative", "--json").stdout
    )

    assert fair["probabilities"] == pytest.approx([0.579832, 0.420168], abs=1e-6)
    assert fair["margin"] == pytest.approx(0.034783, abs=1e-6)


def test_what_jobs_do_can_be_done_by_hand(say: Saying) -> None:
    odds = say("collect", "odds").stdout
    props = say("collect", "props").stdout
    predicted = say("analyze", "--sport", "nba").stdout
    settled = json.loads(say("settle", "--json").stdout)

    assert "basketball_nba: odds, 8 received, 0 written, 3 credits" in odds
    assert props.startswith("basketball_nba: props")
    assert "2 games" in predicted
    assert [each["sport"] for each in settled] == ["basketball_nba", "soccer_epl"]


def test_a_feed_that_is_down_is_told_and_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    say = Saying(tmp_path / "tables.db", ManualClock(BEGUN), ScriptedOdds(down=True))

    told = say("collect", "odds")

    assert isinstance(told.exception, SourceFailed)
    assert told.stdout == ""


def test_figures_are_taken_in_by_the_name_of_their_file(say: Saying, tmp_path: Path) -> None:
    file, odd = tmp_path / "team_stats.csv", tmp_path / "figures.csv"
    file.write_text("team,date,points\nLos Angeles Lakers,2026-02-10,110\nLos Angeles,?,1\n")
    odd.write_text("team,date,points\n")

    taken = say("stats-import", str(file), "--sport", "nba")

    assert "team_stats.csv: basketball_nba, " in taken.stdout
    assert taken.stderr.startswith("! ")
    assert isinstance(say("stats-import", str(odd)).exception, InvalidInput)
    assert isinstance(say("stats-import", str(tmp_path / "no.csv")).exception, InvalidInput)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("games", "--sport", "curling"), NotFound),
        (("game", "nowhere"), NotFound),
        (("wagers", "add", "soon", *HOME_AT, "50", "--stake", "5"), InvalidInput),
        (("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "much"), InvalidInput),
        (("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "0.001"), InvalidInput),
        (("time-out", "soon", "--yes"), InvalidInput),
        (("time-out", "3d", "--json"), InvalidInput),
        (("tools", "fair", "2", "3"), InvalidInput),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    say: Saying, words: tuple[str, ...], refusal: type[Exception]
) -> None:
    told = say(*words)

    assert isinstance(told.exception, refusal)
    assert told.exit_code == 1
