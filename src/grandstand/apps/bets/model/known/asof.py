"""Kept here: the view of one moment, the only thing a model reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from grandstand.apps.bets.model import pairing
from grandstand.apps.bets.model.known.facts import (
    CustomRow,
    Fixture,
    InjuryReport,
    PlayerFigures,
    TeamFigures,
    Verified,
    micros,
    moment_of,
)
from grandstand.apps.bets.model.known.timelines import Fold, Played, State
from grandstand.apps.bets.model.prices.boards import Board, Columns

if TYPE_CHECKING:
    from grandstand.apps.bets.model.known.history import History

Value = TypeVar("Value")


class Used(NamedTuple):
    """A row that was given out: its kind, a name a person can look up, and when it was known."""

    kind: str
    row: str
    known_at: datetime


Done: TypeAlias = dict[Hashable, tuple[object, tuple[Used, ...]]]


class AsOf:
    """What was known at an instant and nothing later; it notes each row it gives out.

    A row counts as known from its `known_at` on, that moment included.
    """

    __slots__ = ("_history", "_once", "_used", "instant", "stamp")

    def __init__(self, history: History, instant: datetime, done: Done | None = None) -> None:
        self._history = history
        self._once: Done = {} if done is None else done
        self._used: dict[Used, None] = {}
        self.instant = instant
        self.stamp = micros(instant)

    @property
    def used(self) -> tuple[Used, ...]:
        """The rows given out so far, each once, in order."""
        return tuple(self._used)

    def anew(self) -> AsOf:
        """The same view with an empty list of rows given out; it shares what was worked out."""
        return AsOf(self._history, self.instant, self._once)

    def once(self, key: Hashable, work: Callable[[AsOf], Value]) -> Value:
        """What a piece of work over this view answers, done once however many models ask."""
        kept = self._once.get(key)
        if kept is None:
            part = self.anew()
            kept = (work(part), part.used)
            self._once[key] = kept
        self._used.update(dict.fromkeys(kept[1]))
        return cast("Value", kept[0])

    def remembered(self, key: Hashable, at: datetime, work: Callable[[AsOf], Value]) -> Value:
        """What work over the view of an earlier moment answers, done once for all later views.

        It serves what is costly to learn and is learnt at fixed moments; `at` is never later than
        this view's instant, so nothing later can enter.
        """
        earlier = min(at, self.instant)
        place = (key, earlier)
        memory = self._history.memory
        if place not in memory:
            part = AsOf(self._history, earlier)
            memory[place] = (work(part), part.used)
        value, rows = cast("tuple[Value, tuple[Used, ...]]", memory[place])
        self._used.update(dict.fromkeys(rows))
        return value

    def fixture(self, game_id: str) -> Fixture | None:
        """A game as it was announced."""
        game = self._history.fixture(game_id, self.stamp)
        if game is not None:
            self._note("fixture", game_id, game.known_at)
        return game

    def board(self, game_id: str, market: str, participant: str | None = None) -> Board | None:
        """The latest price of each book in a market, or None when nothing was quoted."""
        return self.once(
            ("board", game_id, market, participant),
            lambda part: part.board_anew(game_id, market, participant),
        )

    def board_anew(self, game_id: str, market: str, participant: str | None) -> Board | None:
        """The same, read from the history each time."""
        columns = self._history.columns((game_id, market, participant))
        board = None if columns is None else columns.latest(self.stamp)
        if board is not None:
            for book, stamp in zip(board.books, board.known_at.tolist(), strict=True):
                self._note("quote", _named(game_id, market, participant, book), moment_of(stamp))
        return board

    def path(self, game_id: str, market: str, participant: str | None = None) -> Columns | None:
        """Every price of every book in a market until now, in order; None when there is none."""
        columns = self._history.columns((game_id, market, participant))
        known = None if columns is None else columns.until(self.stamp)
        if known is None or not len(known.known_at):
            return None
        newest = moment_of(int(np.max(known.known_at)))
        self._note("quotes", _named(game_id, market, participant, "all books"), newest)
        return known

    def props(self, game_id: str) -> list[tuple[str, str]]:
        """The markets about players that are quoted by now, each with its player."""
        quoted = self._quoted(game_id)
        return [(market, player) for market, player in quoted if player is not None]

    def markets(self, game_id: str) -> list[str]:
        """The markets of a game itself that are quoted by now."""
        return [market for market, player in self._quoted(game_id) if player is None]

    def _quoted(self, game_id: str) -> list[tuple[str, str | None]]:
        found = []
        for market, player in self._history.quoted(game_id):
            columns = self._history.columns((game_id, market, player))
            if columns is not None and len(columns.known_at):
                found += [(market, player)] if columns.known_at[0] <= self.stamp else []
        return found

    def results(self, sport: str, team: str, limit: int | None = None) -> list[Played]:
        """A team's finished games, oldest first; with a limit the newest of them."""
        return self._played(("team", sport, team), limit)

    def meetings(self, sport: str, team: str, other: str, limit: int | None = None) -> list[Played]:
        """The finished games of two teams against each other, oldest first."""
        return self._played(("pair", sport, pairing(team, other)), limit)

    def _played(self, place: tuple[str, ...], limit: int | None) -> list[Played]:
        found = []
        for game_id in self._history.finished(*place).known(self.stamp, limit):
            played = self._history.played(game_id, self.stamp)
            if played is not None:
                self._note("score", game_id, played.score.known_at)
                found.append(played)
        return found

    def figures(self, sport: str, team: str, limit: int | None = None) -> list[TeamFigures]:
        """A team's figures, oldest first; with a limit the newest of them."""
        rows = self._history.rows("figures", sport, team).known(self.stamp, limit)
        for row in rows:
            self._note("figures", f"{team} {row.played_at.isoformat()}", row.known_at)
        return rows

    def player_games(
        self, sport: str, player: str, limit: int | None = None
    ) -> list[PlayerFigures]:
        """A player's games, each once, oldest first; with a limit the newest of them."""
        rows = self._history.rows("player", sport, player).known(self.stamp)
        games = list({row.game_id: row for row in rows}.values())
        kept = games[0 if limit is None else max(0, len(games) - limit) :]
        for row in kept:
            self._note("player", f"{player} in {row.game_id}", row.known_at)
        return kept

    def squad_games(self, sport: str, team: str, limit: int) -> list[PlayerFigures]:
        """The newest figures of a team's players, oldest first."""
        rows = self._history.rows("squad", sport, team).known(self.stamp, limit)
        if rows:
            self._note("player", f"{team}'s last {len(rows)} player figures", rows[-1].known_at)
        return rows

    def injuries(self, sport: str, team: str) -> list[InjuryReport]:
        """The latest report of each of a team's players."""
        latest = self._history.latest_reports(sport, team, self.stamp)
        for row in latest:
            self._note("injury", f"{row.player} of {team}", row.known_at)
        return latest

    def rest_days(self, sport: str, team: str, before: datetime) -> float | None:
        """Days between a team's last announced start and a moment; None when there was none."""
        last = self._history.last_start(sport, team, before, self.stamp)
        if last is None:
            return None
        self._note("schedule", f"{team} {last.game_id}", last.known_at)
        return (before - last.commence_time) / _DAY

    def custom(self, dataset: str, subject: str) -> CustomRow | None:
        """The latest row of a person's own data about a team or player; None without one."""
        rows = self._history.rows("custom", dataset, subject).known(self.stamp, 1)
        for row in rows:
            self._note("custom", f"{dataset}/{subject}", row.known_at)
        return rows[0] if rows else None

    def record(
        self, sport: str, market: str, model: str, since: datetime | None = None
    ) -> list[Verified]:
        """A model's verified predictions, oldest first, from a moment on where one is given."""
        rows = self._history.rows("record", sport, market, model).known(self.stamp)
        if since is not None:
            rows = [row for row in rows if row.known_at >= since]
        if rows:
            self._note("record", f"{model} {sport} {market} ({len(rows)})", rows[-1].known_at)
        return rows

    def fold(self, fold: Fold[State]) -> State:
        """The state of a fold over a sport's results known by now; it is not to be changed."""
        state, count = self._history.folded(fold, self.stamp)
        if count:
            newest = self._history.finished("sport", fold.sport).stamps[count - 1]
            self._note("results", f"{fold.sport} ({count})", moment_of(newest))
        return state

    def played_in(self, sport: str) -> list[Played]:
        """Every finished game of a sport, oldest first."""
        finished = self._history.finished("sport", sport).known(self.stamp)
        found = [self._history.played(game_id, self.stamp) for game_id in finished]
        known = [played for played in found if played is not None]
        if known:
            newest = max(played.score.known_at for played in known)
            self._note("results", f"{sport} ({len(known)})", newest)
        return known

    def _note(self, kind: str, row: str, known_at: datetime) -> None:
        self._used[Used(kind, row, known_at)] = None


_DAY = timedelta(days=1)


def _named(game_id: str, market: str, participant: str | None, book: str) -> str:
    middle = market if participant is None else f"{market}/{participant}"
    return f"{game_id}/{middle}/{book}"
