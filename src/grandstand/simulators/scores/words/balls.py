"""Kept here: ball rows in the feed's words, each made once."""

from __future__ import annotations

from collections.abc import Callable

from grandstand.simulators.scores.course import Moment
from grandstand.simulators.scores.tape import Delivery, Tape
from grandstand.simulators.scores.words.figures import written_ball
from grandstand.simulators.scores.words.people import player_row, team_row
from grandstand.simulators.scores.words.scores import Row, score_of


class BallRows:
    """The ball rows of one match. Ids rise with the balls and leave room for those deleted."""

    def __init__(self, tape: Tape, match_id: int, posted_at: Callable[[int], str]) -> None:
        self._tape = tape
        self._match_id = match_id
        self._posted_at = posted_at
        self._rows: list[Row] = []
        self._people = {player.id: player_row(player) for player in tape.players}
        national = tape.setting.international
        self._teams = {team.id: team_row(team, national=national) for team in tape.teams}

    def shown(self, moment: Moment) -> list[Row]:
        """Answer all balls posted by a moment, the latest last."""
        right = moment.shown - 1 if moment.slip else moment.shown
        for place in range(len(self._rows), right):
            self._rows.append(self._row(place, self._tape.deliveries[place]))
        rows = self._rows[:right]
        if moment.slip:
            rows.append(self._row(right, moment.slip.posted, deleted=moment.slip.deleted))
        return rows

    def _row(self, place: int, ball: Delivery, *, deleted: bool = False) -> Row:
        left, score = ball.dismissal, score_of(ball)
        kind, fielder = (left.kind, left.fielder) if left else ("", None)
        catcher = ball.bowler if kind == "caught and bowled" else fielder
        team = self._tape.innings[ball.inning - 1].team.id
        one, two = sorted((ball.batter.id, ball.partner.id))
        return {
            "resource": "balls",
            "id": self._match_id * 10_000 + 2 * place + (1 if deleted else 2),
            "fixture_id": self._match_id,
            "team_id": team,
            "ball": written_ball(ball),
            "scoreboard": f"S{ball.inning}",
            "batsman_one_on_creeze_id": one,
            "batsman_two_on_creeze_id": two,
            "batsman_id": ball.batter.id,
            "bowler_id": ball.bowler.id,
            "batsmanout_id": left.out.id if left and left.counts else None,
            "catchstump_id": catcher.id if catcher and kind != "run out" else None,
            "runout_by_id": fielder.id if fielder and kind == "run out" else None,
            "score_id": score["id"],
            "updated_at": self._posted_at(place),
            "batsman": self._people.get(ball.batter.id) or player_row(ball.batter),
            "bowler": self._people.get(ball.bowler.id) or player_row(ball.bowler),
            "score": score,
            "team": self._teams[team],
        }
