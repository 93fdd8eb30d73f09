"""Kept here: the feed's fixtures, with all their includes, as the values of the model."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from grandstand.apps.cricket.model.phases import phase_of
from grandstand.apps.cricket.model.scores import (
    BattingLine,
    Board,
    BowlingLine,
    Competition,
    Fixture,
    InningsScore,
    Revision,
    Side,
)
from grandstand.apps.cricket.sources.sportmonks.balls import inning_of, parse_balls
from grandstand.apps.cricket.sources.sportmonks.reading import Reading, Row

_NAMED_BALLS: Final = 60


def parse_fixture(reading: Reading, row: Row, since: int | None = None) -> Fixture | None:
    """Answer a fixture; None, with a warning, when it has no id to know it by.

    Whatever else is missing or wrong is counted, and the match goes on without it. `since` is the
    last ball known: earlier ones are not read again.
    """
    match_id = reading.key(row, "id")
    if not match_id:
        reading.warn("a fixture without an id")
        return None
    rows = {name: reading.rows(row, name) for name in ("batting", "bowling", "balls", "lineup")}
    status = reading.text(row, "status")
    if phase_of(status) is None:
        reading.warn(f"unknown status {status[:40]!r}")
    return Fixture(
        match_id=match_id,
        status=status,
        home=_side(reading, row, "localteam"),
        away=_side(reading, row, "visitorteam"),
        competition=_competition(reading, row),
        format=reading.text(row, "type"),
        round=reading.text(row, "round"),
        starting_at=reading.moment(row, "starting_at"),
        venue=reading.text(reading.row(row, "venue"), "name"),
        note=reading.text(row, "note"),
        toss_team_id=reading.key(row, "toss_won_team_id") or None,
        elected=reading.text(row, "elected"),
        winner_team_id=reading.key(row, "winner_team_id") or None,
        no_result=reading.text(row, "draw_noresult"),
        super_over=reading.flag(row, "super_over"),
        revision=_revision(reading, row),
        innings=_innings(reading, row),
        boards=_boards(reading, rows["batting"], rows["bowling"]),
        balls=parse_balls(reading, rows["balls"], since),
        players=_players(reading, rows, since),
    )


def _side(reading: Reading, row: Row, name: str) -> Side:
    team = reading.row(row, name)
    team_id = reading.key(row, f"{name}_id") or reading.key(team, "id")
    return Side(
        team_id,
        reading.text(team, "name"),
        reading.text(team, "code"),
        reading.text(team, "image_path"),
    )


def _competition(reading: Reading, row: Row) -> Competition:
    league = reading.row(row, "league")
    return Competition(
        reading.key(row, "league_id"),
        reading.key(row, "season_id"),
        reading.key(row, "stage_id"),
        reading.text(league, "name"),
        reading.text(league, "code"),
    )


def _revision(reading: Reading, row: Row) -> Revision:
    """A new target; the Duckworth-Lewis block counts where it has a score."""
    blocks = [reading.row(row, f"{side}_dl_data") for side in ("localteam", "visitorteam")]
    told = [
        f"{reading.text(block, 'score')}/{reading.text(block, 'overs')}"
        for block in blocks
        if reading.text(block, "score")
    ]
    return Revision(
        reading.find_number(row, "rpc_target"), reading.decimal(row, "rpc_overs"), " ".join(told)
    )


def _innings(reading: Reading, row: Row) -> tuple[InningsScore, ...]:
    found: dict[int, InningsScore] = {}
    for each in reading.rows(row, "runs"):
        inning = reading.find_number(each, "inning")
        if inning is None or inning < 1:
            reading.warn("an innings without a number")
            continue
        found[inning] = InningsScore(
            reading.key(each, "team_id"),
            inning,
            reading.number(each, "score"),
            reading.number(each, "wickets"),
            reading.decimal(each, "overs") or Decimal(0),
        )
    return tuple(found[inning] for inning in sorted(found))


def _boards(reading: Reading, batted: list[Row], bowled: list[Row]) -> tuple[Board, ...]:
    batting: dict[int, dict[int, BattingLine]] = {}
    for each in _sorted(reading, batted):
        batter = _batting(reading, each)
        if batter:
            batting.setdefault(batter.inning, {})[batter.player_id] = batter
    bowling: dict[int, dict[int, BowlingLine]] = {}
    for each in _sorted(reading, bowled):
        bowler = _bowling(reading, each)
        if bowler:
            bowling.setdefault(bowler.inning, {})[bowler.player_id] = bowler
    return tuple(
        Board(
            inning,
            tuple(batting.get(inning, {}).values()),
            tuple(bowling.get(inning, {}).values()),
        )
        for inning in sorted({*batting, *bowling})
    )


def _sorted(reading: Reading, rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: reading.number(row, "sort"))


def _batting(reading: Reading, row: Row) -> BattingLine | None:
    player, inning = (
        reading.find_number(row, "player_id"),
        inning_of(reading.text(row, "scoreboard")),
    )
    if player is None or inning is None:
        reading.warn("a batting line without a player or a scoreboard")
        return None
    fall_score = reading.number(row, "fow_score")
    fall_overs = reading.decimal(row, "fow_balls") or Decimal(0)
    result = reading.row(row, "result")
    out = bool(fall_score or fall_overs)
    if result and not (reading.flag(result, "is_wicket") or reading.flag(result, "out")):
        out = False
    return BattingLine(
        player,
        inning,
        reading.number(row, "score"),
        reading.number(row, "ball"),
        reading.number(row, "four_x"),
        reading.number(row, "six_x"),
        out,
        fall_score if out else None,
        fall_overs if out else None,
    )


def _bowling(reading: Reading, row: Row) -> BowlingLine | None:
    """The feed writes `medians` for maidens."""
    player, inning = (
        reading.find_number(row, "player_id"),
        inning_of(reading.text(row, "scoreboard")),
    )
    if player is None or inning is None:
        reading.warn("a bowling line without a player or a scoreboard")
        return None
    return BowlingLine(
        player,
        inning,
        reading.decimal(row, "overs") or Decimal(0),
        reading.number(row, "medians"),
        reading.number(row, "runs"),
        reading.number(row, "wickets"),
    )


def _players(reading: Reading, rows: dict[str, list[Row]], since: int | None) -> dict[int, str]:
    """The names the feed gives along: in the lineup, or with lines and the latest balls."""
    people = list(rows["lineup"])
    people += [reading.row(each, "batsman") for each in rows["batting"]]
    people += [reading.row(each, "bowler") for each in rows["bowling"]]
    for each in rows["balls"] if since is None else rows["balls"][-_NAMED_BALLS:]:
        people += [reading.row(each, "batsman"), reading.row(each, "bowler")]
    names: dict[int, str] = {}
    for person in people:
        player = reading.find_number(person, "id") if person else None
        if player is not None and player not in names:
            names[player] = _name(reading, person)
    return names


def _name(reading: Reading, person: Row) -> str:
    """A player in short: the initial and the last name, where both are known."""
    first, last = reading.text(person, "firstname"), reading.text(person, "lastname")
    if first and last:
        return f"{first[0]} {last}"
    return reading.text(person, "fullname") or last or first
