"""The commands of bets, on two days of games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grandstand.apps.bets.domain.ledger import StakeLimitReached, TimeOutActive
from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput, NotFound, SourceFailed
from tests.apps.bets.cli.runner import CommandRunner, command_runner
from tests.apps.bets.scene import BEGUN, season_csv
from tests.apps.bets.stage import NBA, ScriptedOdds

WEIGHTS = ("--weight", "recent_form=0.6", "-w", "rest_schedule=0.4")
HOME_AT = ("--side", "home", "--price")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CommandRunner:
    """A runner whose commands only read, or write what no other test reads."""
    return command_runner(tmp_path_factory.mktemp("bets"))


@pytest.fixture(scope="module")
def season(run: CommandRunner) -> Path:
    """A season in a file that has been imported."""
    file = run.file.parent / "E0.csv"
    file.write_bytes(season_csv())
    assert run("import", str(file)).exit_code == 0
    return file


def test_games_are_listed_soonest_first_with_the_fullest_books_prices(run: CommandRunner) -> None:
    lines = run("games").stdout.splitlines()
    result = json.loads(run("games", "--sport", "nba", "--json").stdout)

    assert lines[1].split()[-1] == "soon"
    assert "fanduel" in lines[1]
    assert {"+150", "-170", "-3.5", "218.5"} <= set(lines[1].split())
    assert [each["game_id"] for each in result] == ["soon", "later"]


def test_a_narrow_terminal_gets_fewer_columns_and_no_line_too_long(run: CommandRunner) -> None:
    narrow = run("games", width=50).stdout

    assert "fanduel" not in narrow
    assert max(map(len, narrow.splitlines())) <= 50


def test_a_game_shows_every_book_with_its_age_and_each_models_view(run: CommandRunner) -> None:
    output = run("game", "soon", "--reasons").stdout
    over = run("game", "over").stdout

    assert "Los Angeles Lakers -120, Boston Celtics +105" in output
    assert "Jayson Tatum: Over 25.5 -115" in output
    assert "ensemble: Boston Celtics" in output
    assert "Meetings: Los Angeles Lakers 110-100 Boston Celtics" in output
    assert "Final score: 110 to 100" in over
    assert "before the start" in over


def test_a_line_is_shown_as_it_moved(run: CommandRunner) -> None:
    moved = run("odds", "soon", "--book", "draftkings").stdout
    none = run("odds", "soon", "--market", "outright").stdout

    assert moved.index("Los Angeles Lakers +148") < moved.index("Los Angeles Lakers -120")
    assert "Markets of the game: h2h, player_points, spreads, totals" in none


def test_predictions_are_shown_by_model_and_the_best_of_all_without_one(run: CommandRunner) -> None:
    output = run("analyses", "ensemble").stdout
    best = json.loads(run("analyses", "--json").stdout)

    assert "Denver Nuggets v Phoenix Suns" in output
    assert [each["prediction"] for each in best] == ["Los Angeles Lakers"]
    assert isinstance(run("analyses", "oracle").exception, NotFound)


def test_the_scoreboard_gives_bounds_and_says_where_there_are_too_few_bets(
    run: CommandRunner,
) -> None:
    board = run("scoreboard").stdout
    one = run("scoreboard", "consensus").stdout
    advice = run("adjustments").stdout

    assert "66.7 % (21 to 94)" in board
    assert "not enough bets" in board
    assert "3 predictions, 3 decided" in one
    assert "break-even" in one
    assert "× 1.00" in advice


def test_an_audit_of_honest_predictions_finds_nothing(run: CommandRunner) -> None:
    output = run("audit", "--sport", "nba")
    result = json.loads(run("audit", "--sport", "nba", "--json").stdout)[0]

    assert output.exit_code == 0
    assert result["checked"] == result["same"] > 0
    assert f"{result['checked']} predictions rerun" in output.stdout


def test_benny_is_shown_with_his_money_his_bets_and_his_rules(run: CommandRunner) -> None:
    output = run("benny").stdout
    result = json.loads(run("benny", "--json").stdout)
    shadow = run("benny", "--shadow").stdout

    cents = result["profit_cents"]
    assert result["bankroll_cents"] == 10_000 + cents
    assert f"+${cents / 100:.2f}" in output
    assert "return if bet" in output
    assert "too few books" in shadow


def test_a_ledger_that_balances_is_told_so(run: CommandRunner) -> None:
    verified = run("ledger", "verify", "benny")

    assert verified.exit_code == 0
    assert "benny: 3 entries, balances" in verified.stdout


def test_a_season_is_taken_in_once_and_walked(run: CommandRunner, season: Path) -> None:
    again = run("import", str(season), "--sport", "epl").stdout
    walked = run("backtest-builtin", "elo", "2025-10-21", "2025-12-31", "-s", "epl")

    assert "58 received, 0 written" in again
    assert walked.exit_code == 0
    assert "elo, soccer_epl, 2025-10-21 to 2025-12-31: 58 games" in walked.stdout
    assert "after 1 trial in this sport" in walked.stdout


def test_what_cannot_be_walked_is_refused_with_the_reason(run: CommandRunner) -> None:
    backwards = run("backtest-builtin", "elo", "2025-12-31", "2025-10-21", "-s", "epl")

    assert isinstance(backwards.exception, InvalidInput)
    assert isinstance(
        run("backtest-builtin", "nobody", "2025-10-21", "2025-12-31").exception, NotFound
    )
    assert isinstance(
        run("backtest-builtin", "elo", "yesterday", "2025-12-31").exception, InvalidInput
    )


def test_a_model_is_made_back_tested_paused_and_removed(run: CommandRunner, season: Path) -> None:
    created = json.loads(run("models", "create", "Form", *WEIGHTS, "-s", "epl", "--json").stdout)
    model_id = created["model_id"]
    tested = run("backtest", model_id, "2025-10-21", "2025-12-31", "--user", "owner")
    paused = run("models", "pause", model_id).stdout
    declined = run("models", "remove", model_id, typed="n\n")
    listed = run("models", "list").stdout
    gone = run("models", "remove", model_id, "--yes").stdout

    assert season.exists()
    assert "Form, soccer_epl, 2025-10-21 to 2025-12-31" in tested.stdout
    assert paused == "Form is paused\n"
    assert (declined.exit_code, "recent_form 60 %" in listed) == (1, True)
    assert gone == "Form is removed\n"
    assert "No models." in run("models", "list").stdout


def test_a_model_whose_weights_do_not_add_up_is_refused_and_not_stored(run: CommandRunner) -> None:
    refused = run("models", "create", "Form", "-w", "recent_form=0.6")
    unwritten = run("models", "create", "Form", "-w", "recent_form")

    assert isinstance(refused.exception, InvalidInput)
    assert isinstance(unwritten.exception, InvalidInput)
    assert json.loads(run("models", "list", "--json").stdout) == []


def test_a_table_of_figures_is_brought_listed_and_removed(
    run: CommandRunner, tmp_path: Path
) -> None:
    file = tmp_path / "pace.csv"
    file.write_text("team,pace\nLos Angeles Lakers,101\nBoston Celtics,98\n")
    none = run("data", "list").stdout

    created = json.loads(run("data", "add", str(file), "--json").stdout)
    listed = run("data", "list").stdout
    declined = run("data", "remove", created["dataset_id"], typed="n\n")
    gone = run("data", "remove", created["dataset_id"], "--yes")

    assert "No datasets." in none
    assert (created["name"], created["rows"], created["columns"]) == ("pace", 2, ["pace"])
    assert created["dataset_id"] in listed
    assert (declined.exit_code, gone.exit_code) == (1, 0)
    assert run("data", "list", "--json").stdout.strip() == "[]"


def test_a_table_that_is_none_is_refused_with_the_line(run: CommandRunner, tmp_path: Path) -> None:
    file = tmp_path / "pace.csv"
    file.write_text("team,pace\nLos Angeles Lakers,101\nBoston Celtics\n")

    refused = run("data", "add", str(file))

    assert isinstance(refused.exception, InvalidInput)
    assert "line 3" in str(refused.exception)


def test_a_team_is_liked_and_no_longer(run: CommandRunner) -> None:
    run("favorites", "add", "Boston Celtics", "--sport", "nba")

    listed = json.loads(run("favorites", "list", "--json").stdout)
    first = run("favorites", "remove", "boston celtics").stdout
    again = run("favorites", "remove", "Boston Celtics").stdout

    assert [(each["sport"], each["team"]) for each in listed] == [(NBA, "Boston Celtics")]
    assert "Removed." in first
    assert "It was not a favorite team." in again
    assert "No favorite teams." in run("favorites", "list").stdout


def test_bets_are_recorded_listed_and_taken_back(run: CommandRunner) -> None:
    who = ("--user", "cleo")
    run("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "15.50", *who)
    listed = json.loads(run("wagers", "list", *who, "--json").stdout)
    wager_id = listed["wagers"][0]["wager_id"]
    table = run("wagers", "list", *who).stdout
    back = run("wagers", "remove", wager_id, *who, typed="y\n")

    assert listed["wagers"][0]["stake_cents"] == 1550
    assert "1 bet, 1 open with $15.50" in table
    assert back.exit_code == 0
    assert "No bets." in run("wagers", "list", *who).stdout


def test_a_file_of_bets_is_taken_once_and_its_bad_lines_are_named(
    run: CommandRunner, tmp_path: Path
) -> None:
    file = tmp_path / "bets.csv"
    file.write_text("game_id,market,side,price,stake\nsoon,h2h,home,150,5\nsoon,h2h,home,50,5\n")

    first = run("wagers", "import", str(file), "--user", "dora")
    again = run("wagers", "import", str(file), "--user", "dora")
    not_one = run("wagers", "import", str(run.file), "--user", "dora")

    assert (first.exit_code, again.exit_code) == (1, 1)
    assert "1 bet recorded, 0 already recorded" in first.stdout
    assert "! line 3: Invalid American price 50" in first.stderr
    assert "0 bets recorded, 1 already recorded" in again.stdout
    assert isinstance(not_one.exception, InvalidInput)


def test_limits_stand_against_a_bet_and_loosen_only_a_day_later(run: CommandRunner) -> None:
    who = ("--user", "eve")
    run("limits", "--bet", "10", "--week", "100", *who)
    refused = run("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "15.50", *who)
    loosened = run("limits", "--bet", "none", *who).stdout

    assert isinstance(refused.exception, StakeLimitReached)
    assert "stake per bet   at most $10.00" in loosened
    assert "looser limits apply from 2026-02-12 13:00 UTC" in loosened


def test_time_out_is_asked_about_and_cannot_be_shortened(run: CommandRunner) -> None:
    who = ("--user", "finn")
    declined = run("time-out", "3d", *who, typed="n\n")
    before = run("limits", *who).stdout
    run("time-out", "3d", "--yes", *who)
    shorter = run("time-out", "1h", "--yes", *who).stdout
    refused = run("wagers", "add", "soon", *HOME_AT, "-110", "--stake", "5", *who)

    assert declined.exit_code == 1
    assert "time-out" not in before
    assert "time-out until  2026-02-14 13:00 UTC" in shorter
    assert isinstance(refused.exception, TimeOutActive)


def test_the_tools_find_what_lies_between_the_books(run: CommandRunner) -> None:
    arbitrage = run("tools", "arbitrage").stdout
    middles = run("tools", "middles").stdout
    stale = run("tools", "stale").stdout
    best = json.loads(run("tools", "best", "soon", "--json").stdout)

    assert "+12.94 % profit" in arbitrage
    assert "both win between 218.5 and 223.5, else -4.55 %" in middles
    assert "fanduel" in stale.splitlines()[1]
    assert {each["game_id"] for each in best} == {"soon"}
    assert max(each["expected_return"] for each in best) > 0.2


def test_the_margin_is_taken_out_of_prices_that_begin_with_a_minus(run: CommandRunner) -> None:
    fair = json.loads(
        run("tools", "fair", "-150", "130", "--method", "multiplicative", "--json").stdout
    )

    assert fair["probabilities"] == pytest.approx([0.579832, 0.420168], abs=1e-6)
    assert fair["margin"] == pytest.approx(0.034783, abs=1e-6)


def test_what_jobs_do_can_be_done_by_hand(run: CommandRunner) -> None:
    odds = run("collect", "odds").stdout
    props = run("collect", "props").stdout
    predicted = run("analyze", "--sport", "nba").stdout
    settled = json.loads(run("settle", "--json").stdout)

    assert "basketball_nba: odds, 8 received, 0 written, 3 credits" in odds
    assert props.startswith("basketball_nba: props")
    assert "2 games" in predicted
    assert [each["sport"] for each in settled] == ["basketball_nba", "soccer_epl"]


def test_a_feed_that_is_down_is_told_and_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    run = CommandRunner(tmp_path / "tables.db", ManualClock(BEGUN), ScriptedOdds(down=True))

    result = run("collect", "odds")

    assert isinstance(result.exception, SourceFailed)
    assert result.stdout == ""


def test_figures_are_taken_in_by_the_name_of_their_file(run: CommandRunner, tmp_path: Path) -> None:
    file, odd = tmp_path / "team_stats.csv", tmp_path / "figures.csv"
    file.write_text("team,date,points\nLos Angeles Lakers,2026-02-10,110\nLos Angeles,?,1\n")
    odd.write_text("team,date,points\n")

    taken = run("stats-import", str(file), "--sport", "nba")

    assert "team_stats.csv: basketball_nba, " in taken.stdout
    assert taken.stderr.startswith("! ")
    assert isinstance(run("stats-import", str(odd)).exception, InvalidInput)
    assert isinstance(run("stats-import", str(tmp_path / "no.csv")).exception, InvalidInput)


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
    run: CommandRunner, words: tuple[str, ...], refusal: type[Exception]
) -> None:
    result = run(*words)

    assert isinstance(result.exception, refusal)
    assert result.exit_code == 1
