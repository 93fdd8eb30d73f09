"""Everything known about games, and the view of it at one point in time.

`History` collects facts. Models never read it: they get an `AsOfView`, which returns only what was
known at its instant and records every row it returns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from grandstand.apps.bets.domain.quotes import PriceBoard, QuoteTable, match_quote
from grandstand.apps.bets.domain.records import (
    CustomDataRow,
    Fixture,
    InjuryReport,
    PlayerGameStats,
    Quote,
    Score,
    TeamGameStats,
    VerifiedForecast,
    from_epoch_us,
    matchup_key,
    to_epoch_us,
)
from grandstand.core.errors import NotFound

Row = TypeVar("Row")
State = TypeVar("State")
Value = TypeVar("Value")

MarketKey: TypeAlias = tuple[str, str, str | None]
SimpleFact: TypeAlias = (
    Fixture
    | Score
    | TeamGameStats
    | PlayerGameStats
    | InjuryReport
    | CustomDataRow
    | VerifiedForecast
)
Fact: TypeAlias = SimpleFact | Quote | QuoteTable
_FOREVER = 2**62


class Timeline(Generic[Row]):
    """Rows ordered by time; rows added out of order are sorted on the next read."""

    __slots__ = ("_ordered", "rows", "times")

    def __init__(self) -> None:
        self.times: list[int] = []
        self.rows: list[Row] = []
        self._ordered = True

    def add(self, at_us: int, row: Row) -> None:
        if self.times and at_us < self.times[-1]:
            self._ordered = False
        self.times.append(at_us)
        self.rows.append(row)

    def count(self, at_us: int) -> int:
        """Return how many rows were known at a time."""
        if not self._ordered:
            order = sorted(range(len(self.times)), key=self.times.__getitem__)
            self.times = [self.times[index] for index in order]
            self.rows = [self.rows[index] for index in order]
            self._ordered = True
        return bisect_right(self.times, at_us)

    def until(self, at_us: int, limit: int | None = None) -> list[Row]:
        """Return the rows known at a time, oldest first; with a limit only the newest."""
        end = self.count(at_us)
        return self.rows[0 if limit is None else max(0, end - limit) : end]


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game and its result, as known at a time."""

    game: Fixture
    score: Score

    @property
    def margin(self) -> int:
        """Home score minus away score."""
        return self.score.home_score - self.score.away_score

    @property
    def total(self) -> int:
        return self.score.home_score + self.score.away_score

    def for_team(self, team: str) -> tuple[int, int]:
        """Return the team's score and its opponent's."""
        if team == self.game.home:
            return self.score.home_score, self.score.away_score
        return self.score.away_score, self.score.home_score


@dataclass(frozen=True, slots=True)
class ResultFold(Generic[State]):
    """A state computed from a sport's results one after another, such as ratings.

    `name` identifies the fold together with every parameter that its state depends on.
    """

    name: Hashable
    sport: str
    start: Callable[[], State]
    step: Callable[[State, PlayedGame], None]


@dataclass(slots=True)
class FoldProgress:
    """The state of a fold, and the number of results and corrections it includes."""

    state: Any
    results: int = 0
    corrections: int = 0


class UsedRow(NamedTuple):
    """A row that a view returned: its kind, a readable name, and when it became known."""

    kind: str
    row: str
    known_at: datetime


ViewCache: TypeAlias = dict[Hashable, tuple[object, tuple[UsedRow, ...]]]


class AsOfView:
    """What was known at an instant, that instant included; records each row it returns."""

    __slots__ = ("_cache", "_history", "_used", "at_us", "instant")

    def __init__(self, history: History, instant: datetime, cache: ViewCache | None = None) -> None:
        self._history = history
        self._cache: ViewCache = {} if cache is None else cache
        self._used: dict[UsedRow, None] = {}
        self.instant = instant
        self.at_us = to_epoch_us(instant)

    @property
    def used(self) -> tuple[UsedRow, ...]:
        """The rows returned so far, without duplicates, in order."""
        return tuple(self._used)

    def fork(self) -> AsOfView:
        """Return the same view with no rows recorded; both share one cache."""
        return AsOfView(self._history, self.instant, self._cache)

    def cached(self, key: Hashable, compute: Callable[[AsOfView], Value]) -> Value:
        """Return `compute(view)`, computed once per view and key."""
        entry = self._cache.get(key)
        if entry is None:
            view = self.fork()
            entry = (compute(view), view.used)
            self._cache[key] = entry
        self._used.update(dict.fromkeys(entry[1]))
        return cast("Value", entry[0])

    def cached_at(self, key: Hashable, at: datetime, compute: Callable[[AsOfView], Value]) -> Value:
        """Return `compute` of the view at an earlier time, computed once for all later views.

        For expensive fits that are refreshed at fixed times. `at` is capped at this view's instant,
        so nothing later can leak in.
        """
        earlier = min(at, self.instant)
        entries = self._history.cache
        if (key, earlier) not in entries:
            view = AsOfView(self._history, earlier)
            entries[key, earlier] = (compute(view), view.used)
        value, rows = cast("tuple[Value, tuple[UsedRow, ...]]", entries[key, earlier])
        self._used.update(dict.fromkeys(rows))
        return value

    def fixture(self, game_id: str) -> Fixture | None:
        game = self._history.fixture(game_id, self.at_us)
        if game is not None:
            self._record("fixture", game_id, game.known_at)
        return game

    def board(self, game_id: str, market: str, participant: str | None = None) -> PriceBoard | None:
        """Return the latest price of each bookmaker in a market, None if it is not quoted."""
        return self.cached(
            ("board", game_id, market, participant),
            lambda view: view.load_board(game_id, market, participant),
        )

    def load_board(self, game_id: str, market: str, participant: str | None) -> PriceBoard | None:
        """Return the board without using the cache."""
        table = self._history.quote_table((game_id, market, participant))
        board = None if table is None else table.latest(self.at_us)
        if board is not None:
            for book, at_us in zip(board.books, board.known_at.tolist(), strict=True):
                name = _quote_name(game_id, market, participant, book)
                self._record("quote", name, from_epoch_us(at_us))
        return board

    def quotes(
        self, game_id: str, market: str, participant: str | None = None
    ) -> QuoteTable | None:
        """Return every price in a market until now, None if there is none."""
        table = self._history.quote_table((game_id, market, participant))
        known = None if table is None else table.until(self.at_us)
        if known is None or not len(known):
            return None
        newest = from_epoch_us(int(np.max(known.known_at)))
        self._record("quotes", _quote_name(game_id, market, participant, "all books"), newest)
        return known

    def quoted_props(self, game_id: str) -> list[tuple[str, str]]:
        """Return the player markets quoted by now, each with its player."""
        quoted = self._quoted(game_id)
        return [(market, player) for market, player in quoted if player is not None]

    def quoted_markets(self, game_id: str) -> list[str]:
        """Return the game markets quoted by now."""
        return [market for market, player in self._quoted(game_id) if player is None]

    def _quoted(self, game_id: str) -> list[tuple[str, str | None]]:
        quoted = []
        for market, player in self._history.quoted_markets(game_id):
            table = self._history.quote_table((game_id, market, player))
            if table is not None and len(table) and table.known_at[0] <= self.at_us:
                quoted.append((market, player))
        return quoted

    def results(self, sport: str, team: str, limit: int | None = None) -> list[PlayedGame]:
        """Return a team's finished games, oldest first; with a limit only the newest."""
        return self._played(("team", sport, team), limit)

    def meetings(
        self, sport: str, team: str, other: str, limit: int | None = None
    ) -> list[PlayedGame]:
        """Return the finished games of two teams against each other, oldest first."""
        return self._played(("pair", sport, matchup_key(team, other)), limit)

    def _played(self, key: tuple[str, ...], limit: int | None) -> list[PlayedGame]:
        games = []
        for game_id in self._history.finished_games(*key).until(self.at_us, limit):
            played = self._history.played_game(game_id, self.at_us)
            if played is not None:
                self._record("score", game_id, played.score.known_at)
                games.append(played)
        return games

    def sport_results(self, sport: str) -> list[PlayedGame]:
        """Return every finished game of a sport, oldest first."""
        finished = self._history.finished_games("sport", sport).until(self.at_us)
        games = [self._history.played_game(game_id, self.at_us) for game_id in finished]
        known = [played for played in games if played is not None]
        if known:
            newest = max(played.score.known_at for played in known)
            self._record("results", f"{sport} ({len(known)})", newest)
        return known

    def fold(self, fold: ResultFold[State]) -> State:
        """Return the state of a fold over the results known by now; do not modify it."""
        state, count = self._history.fold(fold, self.at_us)
        if count:
            newest = self._history.finished_games("sport", fold.sport).times[count - 1]
            self._record("results", f"{fold.sport} ({count})", from_epoch_us(newest))
        return state

    def team_stats(self, sport: str, team: str, limit: int | None = None) -> list[TeamGameStats]:
        """Return a team's stats, oldest first; with a limit only the newest."""
        rows = self._history.rows("team_stats", sport, team).until(self.at_us, limit)
        for row in rows:
            self._record("team stats", f"{team} {row.played_at.isoformat()}", row.known_at)
        return rows

    def player_games(
        self, sport: str, player: str, limit: int | None = None
    ) -> list[PlayerGameStats]:
        """Return a player's distinct games, oldest first; with a limit only the newest."""
        rows = self._history.rows("player", sport, player).until(self.at_us)
        games = list({row.game_id: row for row in rows}.values())
        newest = games[0 if limit is None else max(0, len(games) - limit) :]
        for row in newest:
            self._record("player", f"{player} in {row.game_id}", row.known_at)
        return newest

    def squad_games(self, sport: str, team: str, limit: int) -> list[PlayerGameStats]:
        """Return the newest stats of a team's players, oldest first."""
        rows = self._history.rows("squad", sport, team).until(self.at_us, limit)
        if rows:
            self._record("player", f"{team}'s last {len(rows)} player stats", rows[-1].known_at)
        return rows

    def injuries(self, sport: str, team: str) -> list[InjuryReport]:
        """Return the latest report of each of a team's players."""
        latest = self._history.latest_injuries(sport, team, self.at_us)
        for row in latest:
            self._record("injury", f"{row.player} of {team}", row.known_at)
        return latest

    def rest_days(self, sport: str, team: str, before: datetime) -> float | None:
        """Return the days between a team's last scheduled start and a time, None without one."""
        last = self._history.last_fixture_before(sport, team, before, self.at_us)
        if last is None:
            return None
        self._record("schedule", f"{team} {last.game_id}", last.known_at)
        return (before - last.commence_time) / timedelta(days=1)

    def custom_row(self, dataset: str, subject: str) -> CustomDataRow | None:
        """Return the latest row of a user's dataset about a team or player."""
        rows = self._history.rows("custom", dataset, subject).until(self.at_us, 1)
        for row in rows:
            self._record("custom", f"{dataset}/{subject}", row.known_at)
        return rows[0] if rows else None

    def verified_forecasts(
        self, sport: str, market: str, model: str, since: datetime | None = None
    ) -> list[VerifiedForecast]:
        """Return a model's verified forecasts, oldest first, from `since` on if given."""
        rows = self._history.rows("verified", sport, market, model).until(self.at_us)
        if since is not None:
            rows = [row for row in rows if row.known_at >= since]
        if rows:
            self._record("verified", f"{model} {sport} {market} ({len(rows)})", rows[-1].known_at)
        return rows

    def _record(self, kind: str, row: str, known_at: datetime) -> None:
        self._used[UsedRow(kind, row, known_at)] = None


class History:
    """Facts of any number of games, added one by one and never changed."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self.cache: dict[object, object] = {}
        self._facts: list[SimpleFact] = []
        self._tables: dict[MarketKey, list[QuoteTable]] = defaultdict(list)
        self._joined: dict[MarketKey, QuoteTable] = {}
        self._quoted: dict[str, dict[tuple[str, str | None], None]] = defaultdict(dict)
        self._until: int | None = None
        self._source: History | None = None
        self._games: dict[str, Timeline[Fixture]] = defaultdict(Timeline)
        self._scores: dict[str, Timeline[Score]] = defaultdict(Timeline)
        self._finished: dict[tuple[str, ...], Timeline[str]] | None = None
        self._corrections: dict[str, Timeline[str]] = defaultdict(Timeline)
        self._rows: dict[tuple[str, ...], Timeline[Any]] = defaultdict(Timeline)
        self._folds: dict[object, FoldProgress] = {}
        others = []
        for fact in facts:
            if isinstance(fact, Fixture):
                self.add(fact)
            else:
                others.append(fact)
        for fact in others:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add a fact.

        Raises NotFound if it is about a game without a fixture, and InvalidInput if a quote does
        not match its market or a time has no zone.
        """
        if isinstance(fact, Quote):
            self._add_quotes(match_quote(fact, self._game(fact.game_id)))
        elif isinstance(fact, QuoteTable):
            fact.check()
            self._game(fact.game_id)
            self._add_quotes(fact)
        else:
            self._add_simple(fact)

    def _game(self, game_id: str) -> Fixture:
        if game_id not in self._games:
            raise NotFound(f"Unknown game {game_id}. Add its fixture first.")
        return self._games[game_id].rows[-1]

    def _add_quotes(self, table: QuoteTable) -> None:
        key = (table.game_id, table.market, table.participant)
        if self._source is not None and key not in self._tables:
            self.quote_table(key)
        if key in self._joined:
            self._tables[key] = [self._joined.pop(key)]
        self._tables[key].append(table)
        self._quoted[table.game_id][table.market, table.participant] = None

    def _add_simple(self, fact: SimpleFact) -> None:
        known_us = to_epoch_us(fact.known_at)
        if isinstance(fact, Score):
            self._game(fact.game_id)
            self._scores[fact.game_id].add(known_us, fact)
            self._finished = None
            self._folds.clear()
        elif isinstance(fact, Fixture):
            self._games[fact.game_id].add(known_us, fact)
            for team in {fact.home, fact.away}:
                start_us = to_epoch_us(fact.commence_time)
                self._rows["schedule", fact.sport, team].add(start_us, fact)
        else:
            self._rows[_row_key(fact)].add(known_us, fact)
            if isinstance(fact, PlayerGameStats):
                self._rows["squad", fact.sport, fact.team].add(known_us, fact)
            if isinstance(fact, InjuryReport):
                self._folds.pop(("injuries", fact.sport, fact.team), None)
        self._facts.append(fact)

    def as_of(self, instant: datetime) -> AsOfView:
        """Return the view at an instant, the only thing a model gets."""
        return AsOfView(self, instant)

    def games(self) -> list[Fixture]:
        """Return the latest fixture of every game, ordered by start and id."""
        last = [rows.until(_FOREVER)[-1] for rows in self._games.values()]
        return sorted(last, key=lambda game: (game.commence_time, game.game_id))

    def fixtures(self) -> list[Fixture]:
        """Return every fixture of every game, schedule changes included."""
        return [game for rows in self._games.values() for game in rows.until(_FOREVER)]

    def fixture(self, game_id: str, at_us: int) -> Fixture | None:
        """Return a game as scheduled at a time."""
        rows = self._games.get(game_id)
        known = rows.until(at_us, 1) if rows else []
        return known[0] if known else None

    def latest_fixture(self, game_id: str) -> Fixture | None:
        return self.fixture(game_id, _FOREVER)

    def score(self, game_id: str, at_us: int) -> Score | None:
        """Return a game's score as it stood at a time, corrections known by then included."""
        rows = self._scores.get(game_id)
        known = rows.until(at_us, 1) if rows else []
        return known[0] if known else None

    def latest_score(self, game_id: str) -> Score | None:
        return self.score(game_id, _FOREVER)

    def first_score(self, game_id: str) -> Score | None:
        rows = self._scores.get(game_id)
        return rows.until(_FOREVER)[0] if rows else None

    def first_final_score(self, game_id: str) -> Score | None:
        """Return the first score that was not only a postponement."""
        rows = self._scores.get(game_id)
        known = rows.until(_FOREVER) if rows else []
        return next((score for score in known if score.status != "postponed"), None)

    def played_game(self, game_id: str, at_us: int) -> PlayedGame | None:
        """Return a game with its final score as of a time, None without a final score."""
        game, score = self.fixture(game_id, at_us), self.score(game_id, at_us)
        if game is None or score is None or score.status != "final":
            return None
        return PlayedGame(game, score)

    def quoted_markets(self, game_id: str) -> dict[tuple[str, str | None], None]:
        """Return the markets of a game that were ever quoted, each with its player or None."""
        before = self._source.quoted_markets(game_id) if self._source is not None else {}
        return {**before, **self._quoted.get(game_id, {})}

    def quote_table(self, key: MarketKey) -> QuoteTable | None:
        """Return every price of one market of one game."""
        table = self._joined.get(key)
        if table is None:
            if key in self._tables:
                table = QuoteTable.join(self._tables[key])
            elif self._source is not None and self._until is not None:
                table = self._source.quote_table(key)
                table = None if table is None else table.until(self._until)
            if table is None:
                return None
            self._joined[key] = table
        return table

    def quote_tables(self) -> Iterator[QuoteTable]:
        for tables in self._tables.values():
            yield from tables
        if self._source is None or self._until is None:
            return
        for table in self._source.quote_tables():
            if (table.game_id, table.market, table.participant) not in self._tables:
                known = table.until(self._until)
                if len(known):
                    yield known

    def closing_board(
        self, game_id: str, market: str, participant: str | None = None
    ) -> PriceBoard | None:
        """Return the last prices captured before the start, None if there are none."""
        table = self.quote_table((game_id, market, participant))
        if table is None:
            return None
        start_us = to_epoch_us(self._game(game_id).commence_time)
        return table.before_start(start_us).latest(_FOREVER)

    def rows(self, *key: str) -> Timeline[Any]:
        """Return the rows of a kind under a key, empty if there are none."""
        return self._rows.get(key, _EMPTY)

    def last_fixture_before(
        self, sport: str, team: str, before: datetime, at_us: int
    ) -> Fixture | None:
        """Return a team's last game scheduled to start before a time, as known at `at_us`."""
        schedule = self.rows("schedule", sport, team)
        for index in range(schedule.count(to_epoch_us(before) - 1) - 1, -1, -1):
            game: Fixture = schedule.rows[index]
            if self.fixture(game.game_id, at_us) is game:
                return game
        return None

    def latest_injuries(self, sport: str, team: str, at_us: int) -> list[InjuryReport]:
        """Return the last report of each player of a team known at a time."""
        reports = self.rows("injuries", sport, team)
        end = reports.count(at_us)
        key = ("injuries", sport, team)
        progress = self._folds.get(key)
        if progress is None or progress.results > end:
            progress = FoldProgress({})
            self._folds[key] = progress
        for report in reports.rows[progress.results : end]:
            progress.state[report.player] = report
        progress.results = end
        return list(progress.state.values())

    def finished_games(self, *key: str) -> Timeline[str]:
        """Return the ids of finished games of a sport, team or matchup, by time of first score."""
        if self._finished is None:
            self._finished = self._index_scores()
        return self._finished.get(key, _EMPTY)

    def _index_scores(self) -> dict[tuple[str, ...], Timeline[str]]:
        index: dict[tuple[str, ...], Timeline[str]] = defaultdict(Timeline)
        self._corrections = defaultdict(Timeline)
        order = []
        for game_id, rows in self._scores.items():
            known = rows.until(_FOREVER)
            game = self._game(game_id)
            order.append((to_epoch_us(known[0].known_at), game.commence_time, game_id, game))
            for row in known[1:]:
                self._corrections[game.sport].add(to_epoch_us(row.known_at), game_id)
        for known_us, _, game_id, game in sorted(order, key=lambda row: row[:3]):
            index["sport", game.sport].add(known_us, game_id)
            index["pair", game.sport, matchup_key(game.home, game.away)].add(known_us, game_id)
            for team in (game.home, game.away):
                index["team", game.sport, team].add(known_us, game_id)
        return index

    def fold(self, fold: ResultFold[State], at_us: int) -> tuple[State, int]:
        """Return the state of a fold over the results known at a time, and their number.

        A fold continues from its last position. After a correction, or for an earlier time, it
        starts over, so the state depends on the results only and not on earlier calls.
        """
        finished = self.finished_games("sport", fold.sport)
        end = finished.count(at_us)
        corrections = self._corrections[fold.sport].count(at_us)
        key = (fold.name, fold.sport)
        progress = self._folds.get(key)
        if progress is None or progress.results > end or progress.corrections != corrections:
            progress = FoldProgress(fold.start(), corrections=corrections)
            self._folds[key] = progress
        for game_id in finished.rows[progress.results : end]:
            played = self.played_game(game_id, at_us)
            if played is not None:
                fold.step(progress.state, played)
        progress.results = end
        return progress.state, end

    def truncate(self, instant: datetime) -> History:
        """Return a history without anything that became known after an instant."""
        at_us = to_epoch_us(instant)
        return self._derive(
            (fact for fact in self._facts if to_epoch_us(fact.known_at) <= at_us), at_us
        )

    def without_verified(self) -> History:
        """Return the same facts without verified forecasts, for a walk-forward run."""
        return self._derive(
            (fact for fact in self._facts if not isinstance(fact, VerifiedForecast)), _FOREVER
        )

    def _derive(self, facts: Iterable[SimpleFact], until: int) -> History:
        """Return a history of some facts that reads prices up to a time from this one."""
        derived = History(facts)
        derived._source = self
        derived._until = until
        return derived

    def simple_facts(self) -> tuple[SimpleFact, ...]:
        """Return every fact except prices, in the order in which they were added."""
        return tuple(self._facts)

    def known_times(self) -> list[int]:
        """Return every time at which something became known, sorted, without duplicates."""
        simple = np.array([to_epoch_us(fact.known_at) for fact in self._facts], dtype=np.int64)
        prices = [table.known_at for table in self.quote_tables()]
        return [int(at_us) for at_us in np.unique(np.concatenate([simple, *prices]))]

    def facts_at(self, at_us: int) -> Iterator[Fact]:
        """Return the facts that became known at exactly this time, prices as single rows."""
        yield from (fact for fact in self._facts if to_epoch_us(fact.known_at) == at_us)
        for table in self.quote_tables():
            for row in np.flatnonzero(table.known_at == at_us):
                yield table.select(slice(int(row), int(row) + 1))


_EMPTY: Timeline[Any] = Timeline()


def _row_key(fact: SimpleFact) -> tuple[str, ...]:
    match fact:
        case TeamGameStats():
            return "team_stats", fact.sport, fact.team
        case PlayerGameStats():
            return "player", fact.sport, fact.player
        case InjuryReport():
            return "injuries", fact.sport, fact.team
        case CustomDataRow():
            return "custom", fact.dataset, fact.subject
        case VerifiedForecast():
            return "verified", fact.sport, fact.market, fact.model
    raise AssertionError(fact)


def _quote_name(game_id: str, market: str, participant: str | None, book: str) -> str:
    middle = market if participant is None else f"{market}/{participant}"
    return f"{game_id}/{middle}/{book}"
