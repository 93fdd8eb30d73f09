"""Kept here: everything known, in memory; large columns as arrays, the rest in order of knowing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from grandstand.apps.bets.model import pairing
from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import (
    CustomRow,
    Fact,
    Fixture,
    InjuryReport,
    PlayerFigures,
    Quote,
    Score,
    TeamFigures,
    Verified,
    micros,
)
from grandstand.apps.bets.model.known.matching import matched
from grandstand.apps.bets.model.known.timelines import Fold, Played, Progress, State, Timeline
from grandstand.apps.bets.model.prices.boards import Board, Columns
from grandstand.apps.bets.model.prices.paths import QuotePath
from grandstand.apps.bets.model.refusals import UnknownGame

MarketKey: TypeAlias = tuple[str, str, str | None]
Plain: TypeAlias = (
    Fixture | Score | TeamFigures | PlayerFigures | InjuryReport | CustomRow | Verified
)


class History:
    """Facts of any number of games, to be looked at as of any moment.

    Models never read it: they are given a view. It grows by adding; nothing in it is changed.
    """

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._plain: list[Plain] = []
        self._paths: dict[MarketKey, list[QuotePath]] = defaultdict(list)
        self._columns: dict[MarketKey, Columns] = {}
        self._quoted: dict[str, dict[tuple[str, str | None], None]] = defaultdict(dict)
        self._until: int | None = None
        self._source: History | None = None
        self._games: dict[str, Timeline[Fixture]] = defaultdict(Timeline)
        self._scores: dict[str, Timeline[Score]] = defaultdict(Timeline)
        self._firsts: dict[tuple[str, ...], Timeline[str]] | None = None
        self._corrections: dict[str, Timeline[str]] = defaultdict(Timeline)
        self._rows: dict[tuple[str, ...], Timeline[Any]] = defaultdict(Timeline)
        self._folds: dict[object, Progress] = {}
        self._memory: dict[object, object] = {}
        later = []
        for fact in facts:
            if isinstance(fact, Fixture):
                self.add(fact)
            else:
                later.append(fact)
        for fact in later:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Keep one more fact; raises UnknownGame, UnmatchedOutcome, CrookedColumns, NaiveMoment."""
        if isinstance(fact, Quote):
            self._add_path(matched(fact, self._game_of(fact.game_id)))
        elif isinstance(fact, QuotePath):
            fact.check()
            self._game_of(fact.game_id)
            self._add_path(fact)
        else:
            self._add_plain(fact)

    def _game_of(self, game_id: str) -> Fixture:
        if game_id not in self._games:
            raise UnknownGame(game_id)
        return self._games[game_id].rows[-1]

    def _add_path(self, path: QuotePath) -> None:
        key = (path.game_id, path.market, path.participant)
        if self._source is not None and key not in self._paths:
            self.columns(key)
        if key in self._columns:
            self._paths[key] = list(_as_paths(key, self._columns.pop(key)))
        self._paths[key].append(path)
        self._quoted[path.game_id][path.market, path.participant] = None

    def _add_plain(self, fact: Plain) -> None:
        stamp = micros(fact.known_at)
        if isinstance(fact, Score):
            self._game_of(fact.game_id)
            self._scores[fact.game_id].add(stamp, fact)
            self._firsts = None
            self._folds.clear()
        elif isinstance(fact, Fixture):
            self._games[fact.game_id].add(stamp, fact)
            for team in {fact.home, fact.away}:
                start = micros(fact.commence_time)
                self._rows["schedule", fact.sport, team].add(start, fact)
        else:
            self._rows[_place(fact)].add(stamp, fact)
            if isinstance(fact, PlayerFigures):
                self._rows["squad", fact.sport, fact.team].add(stamp, fact)
            if isinstance(fact, InjuryReport):
                self._folds.pop(("injuries", fact.sport, fact.team), None)
        self._plain.append(fact)

    def as_of(self, instant: datetime) -> AsOf:
        """The view of one moment: the only thing a model is given."""
        return AsOf(self, instant)

    def games(self) -> list[Fixture]:
        """Every game as it was last announced, ordered by start and id."""
        last = [rows.known(_FOREVER)[-1] for rows in self._games.values()]
        return sorted(last, key=lambda game: (game.commence_time, game.game_id))

    def announced(self, game_id: str) -> Fixture | None:
        """A game as it was last announced; None when it never was."""
        return self.fixture(game_id, _FOREVER)

    def quoted(self, game_id: str) -> dict[tuple[str, str | None], None]:
        """The markets of a game that were ever quoted, each with the player it is about or None."""
        before = self._source.quoted(game_id) if self._source is not None else {}
        return {**before, **self._quoted.get(game_id, {})}

    def result(self, game_id: str) -> Score | None:
        """The last score heard of a game, for settling; None when there is none yet."""
        rows = self._scores.get(game_id)
        return rows.known(_FOREVER)[-1] if rows else None

    def first_score(self, game_id: str) -> Score | None:
        """The first score heard of a game; None when there is none yet."""
        rows = self._scores.get(game_id)
        return rows.known(_FOREVER)[0] if rows else None

    def first_final(self, game_id: str) -> Score | None:
        """The first score heard that was not only a postponement; None when there is none."""
        rows = self._scores.get(game_id)
        known = rows.known(_FOREVER) if rows else []
        return next((score for score in known if score.status != "postponed"), None)

    def announcements(self) -> list[Fixture]:
        """Every announcement of every game, changes of the schedule included."""
        return [game for rows in self._games.values() for game in rows.known(_FOREVER)]

    def announced_at(self, game_id: str, instant: datetime) -> Fixture | None:
        """A game as it was announced at a moment."""
        return self.fixture(game_id, micros(instant))

    def closing(self, game_id: str, market: str, participant: str | None = None) -> Board | None:
        """The last prices captured before the start, for judging; None when there are none."""
        columns = self.columns((game_id, market, participant))
        if columns is None:
            return None
        start = micros(self._game_of(game_id).commence_time)
        return columns.before_start(start).latest(_FOREVER)

    def truncated(self, instant: datetime) -> History:
        """A history that holds nothing that became known after a moment."""
        stamp = micros(instant)
        short = History(fact for fact in self._plain if micros(fact.known_at) <= stamp)
        short._source = self
        short._until = stamp
        return short

    def columns(self, key: MarketKey) -> Columns | None:
        """Every price of one market of one game, or None when there is none."""
        found = self._columns.get(key)
        if found is None:
            if key in self._paths:
                found = Columns.joined(key[1], self._paths[key])
            elif self._source is not None and self._until is not None:
                whole = self._source.columns(key)
                found = None if whole is None else whole.until(self._until)
            if found is None:
                return None
            self._columns[key] = found
        return found

    def rows(self, *place: str) -> Timeline[Any]:
        """The rows of a kind kept under a name; empty when there are none."""
        return self._rows.get(place, _NOTHING)

    def fixture(self, game_id: str, stamp: int) -> Fixture | None:
        """A game as announced at a stamp."""
        rows = self._games.get(game_id)
        known = rows.known(stamp, 1) if rows else []
        return known[0] if known else None

    def score(self, game_id: str, stamp: int) -> Score | None:
        """A game's score as it stood at a stamp, corrections counted when they were known."""
        rows = self._scores.get(game_id)
        known = rows.known(stamp, 1) if rows else []
        return known[0] if known else None

    def last_start(self, sport: str, team: str, before: datetime, stamp: int) -> Fixture | None:
        """A team's last announced game that starts before a moment, as known at a stamp."""
        schedule = self.rows("schedule", sport, team)
        for at in range(schedule.count(micros(before) - 1) - 1, -1, -1):
            game: Fixture = schedule.rows[at]
            if self.fixture(game.game_id, stamp) is game:
                return game
        return None

    def latest_reports(self, sport: str, team: str, stamp: int) -> list[InjuryReport]:
        """The last report of each player of a team known at a stamp."""
        reports = self.rows("injuries", sport, team)
        end = reports.count(stamp)
        place = ("injuries", sport, team)
        progress = self._folds.get(place)
        if progress is None or progress.results > end:
            progress = Progress({})
            self._folds[place] = progress
        for report in reports.rows[progress.results : end]:
            progress.state[report.player] = report
        progress.results = end
        return list(progress.state.values())

    def branch(self) -> History:
        """The same facts without verified predictions, to be walked through anew."""
        plain = (fact for fact in self._plain if not isinstance(fact, Verified))
        other = History(plain)
        other._source = self
        other._until = _FOREVER
        return other

    def finished(self, *place: str) -> Timeline[str]:
        """The ids of finished games of a sport, a team or a pairing, by when the score came."""
        if self._firsts is None:
            self._firsts = self._index_scores()
        return self._firsts.get(place, _NOTHING)

    def _index_scores(self) -> dict[tuple[str, ...], Timeline[str]]:
        firsts: dict[tuple[str, ...], Timeline[str]] = defaultdict(Timeline)
        self._corrections = defaultdict(Timeline)
        order = []
        for game_id, rows in self._scores.items():
            known = rows.known(_FOREVER)
            game = self._game_of(game_id)
            order.append((micros(known[0].known_at), game.commence_time, game_id, game))
            for row in known[1:]:
                self._corrections[game.sport].add(micros(row.known_at), game_id)
        for stamp, _, game_id, game in sorted(order, key=lambda row: row[:3]):
            firsts["sport", game.sport].add(stamp, game_id)
            firsts["pair", game.sport, pairing(game.home, game.away)].add(stamp, game_id)
            for team in (game.home, game.away):
                firsts["team", game.sport, team].add(stamp, game_id)
        return firsts

    def folded(self, fold: Fold[State], stamp: int) -> tuple[State, int]:
        """The state of a fold over the results known at a stamp, and how many there were.

        A fold goes on from where it stood; when a correction came, or an earlier moment is asked
        for, it begins anew. So the state depends on the results alone, not on who asked before.
        """
        finished = self.finished("sport", fold.sport)
        end = finished.count(stamp)
        corrections = self._corrections[fold.sport].count(stamp)
        place = (fold.name, fold.sport)
        progress = self._folds.get(place)
        if progress is None or progress.results > end or progress.corrections != corrections:
            progress = Progress(fold.start(), corrections=corrections)
            self._folds[place] = progress
        for game_id in finished.rows[progress.results : end]:
            played = self.played(game_id, stamp)
            if played is not None:
                fold.step(progress.state, played)
        progress.results = end
        return progress.state, end

    def played(self, game_id: str, stamp: int) -> Played | None:
        """A game with its score as of a stamp; None when it did not end with a final score."""
        game, score = self.fixture(game_id, stamp), self.score(game_id, stamp)
        if game is None or score is None or score.status != "final":
            return None
        return Played(game, score)

    @property
    def memory(self) -> dict[object, object]:
        """What views remember of work that depends on their rows alone."""
        return self._memory

    def stamps(self) -> list[int]:
        """Every moment at which something became known, in order, each once."""
        plain = np.array([micros(fact.known_at) for fact in self._plain], dtype=np.int64)
        prices = [path.known_at for path in self.paths()]
        return [int(stamp) for stamp in np.unique(np.concatenate([plain, *prices]))]

    def facts_at(self, stamp: int) -> Iterator[Fact]:
        """The facts that became known at exactly this stamp."""
        yield from (fact for fact in self._plain if micros(fact.known_at) == stamp)
        for path in self.paths():
            for row in np.flatnonzero(path.known_at == stamp):
                yield path.part(slice(int(row), int(row) + 1))

    def plain_facts(self) -> tuple[Plain, ...]:
        """Every fact but prices, in the order in which they were added."""
        return tuple(self._plain)

    def paths(self) -> Iterator[QuotePath]:
        """Every path of prices."""
        for paths in self._paths.values():
            yield from paths
        if self._source is None or self._until is None:
            return
        for path in self._source.paths():
            if (path.game_id, path.market, path.participant) not in self._paths:
                end = int(np.searchsorted(path.known_at, self._until, side="right"))
                if end:
                    yield path if end == len(path.known_at) else path.part(slice(0, end))


_FOREVER = 2**62
_NOTHING: Timeline[Any] = Timeline()


def _place(fact: Plain) -> tuple[str, ...]:
    match fact:
        case TeamFigures():
            return "figures", fact.sport, fact.team
        case PlayerFigures():
            return "player", fact.sport, fact.player
        case InjuryReport():
            return "injuries", fact.sport, fact.team
        case CustomRow():
            return "custom", fact.dataset, fact.subject
        case Verified():
            return "record", fact.sport, fact.market, fact.model
    raise AssertionError(fact)


def _as_paths(key: MarketKey, columns: Columns) -> Iterator[QuotePath]:
    for book in columns.books:
        part = columns.of_book(book)
        if part is not None:
            yield QuotePath(
                key[0],
                book,
                key[1],
                part.captured_at,
                part.known_at,
                part.prices,
                part.points,
                key[2],
            )
