"""Stored games: prices, results, awaited games, stats, schedules and injuries."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Literal, Self, TypeAlias

from grandstand.apps.bets.domain.records import InjuryStatus, PricedOutcome, matchup_key, slug
from grandstand.apps.bets.store import SCHEMA_VERSION, GameRow, TeamRow, bets, end_of_key
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, Update, attribute, key
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.declaration.fields import format_time

StoredScoreStatus: TypeAlias = Literal["final", "postponed", "abandoned", "void"]


class StoredPrice(GameRow):
    """A bookmaker's price of one market, captured at one time."""

    bookmaker: str
    market_key: str
    captured_at: datetime
    outcomes: tuple[PricedOutcome, ...]
    latest: bool = True
    created_at: datetime

    def record(self) -> Put[Self]:
        """Store a price that does not exist yet."""
        return self.put().if_absent()

    def retire(self) -> Update[Self]:
        """Mark a price as no longer the latest, unless already done."""
        retired = type(self).update(**self.identity()).set(latest=False)
        return retired.when(type(self).latest == self.latest)

    def remove(self) -> Delete[Self]:
        """Remove a price of a game that never had a result."""
        return type(self).delete(**self.identity())

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Read the capture time of rows without a version from the key."""
        return {"captured_at": end_of_key(item), **item}


class GameOdds(StoredPrice, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """One bookmaker's price of one market of a game, captured at one time."""

    row = key("GAME#{game_id}", "{bookmaker}#{market_key}#{captured_at}")
    active = key("GAME#{sport}", "{commence_time}", index="ActiveBetsIndexV2", when="latest")

    @classmethod
    def upcoming(cls, sport: str, now: datetime) -> Query[Self]:
        """The latest prices of a sport's games that have not started."""
        return cls.active(sport=sport).since(commence_time=now)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Every price of a game."""
        return cls.row(game_id=game_id)

    @classmethod
    def history(cls, game_id: str, bookmaker: str, market_key: str) -> Query[Self]:
        """Every price of one bookmaker in a market of a game, oldest first."""
        return cls.row(game_id=game_id, bookmaker=bookmaker, market_key=market_key)


class PropOdds(StoredPrice, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """One bookmaker's price of one player market, captured at one time."""

    player: str

    row = key("PROP#{game_id}", "{player}#{bookmaker}#{market_key}#{captured_at}")
    active = key("PROP#{sport}", "{commence_time}", index="ActiveBetsIndexV2", when="latest")

    @classmethod
    def upcoming(cls, sport: str, now: datetime) -> Query[Self]:
        """The latest player prices of a sport's games that have not started."""
        return cls.active(sport=sport).since(commence_time=now)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Every player price of a game."""
        return cls.row(game_id=game_id)


class HistoricalOdds(GameRow, table=bets, times="seconds"):
    """The closing price of one bookmaker's market, stored permanently."""

    bookmaker: str
    market_key: str
    outcomes: tuple[PricedOutcome, ...]
    updated_at: datetime
    archived_at: datetime
    player: str | None = None

    row = key("HISTORICAL_ODDS#{game_id}", "{bookmaker}#{place}")

    @property
    def place(self) -> str:
        """The end of its key: the market, and the player of a prop."""
        return self.market_key if self.player is None else f"{self.market_key}#{self.player}"

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """The closing prices of a game."""
        return cls.row(game_id=game_id)

    def archive(self) -> Put[Self]:
        """Store a closing price once."""
        return self.put().if_absent()


class GameOutcome(Entity, table=bets, times="seconds"):
    """The result of a game; a corrected score is another row after it, and nothing is changed."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    home_score: Decimal
    away_score: Decimal
    winner: str | None = None
    completed_at: datetime
    corrected_at: datetime | None = None

    row = key("OUTCOME#{sport}#{game_id}", "{result}")
    h2h = key("H2H#{sport}#{pairing}", "{completed_at}", index="H2HIndex")

    @property
    def result(self) -> str:
        """The end of its key: RESULT, and for a correction its time."""
        if self.corrected_at is None:
            return "RESULT"
        return f"RESULT#{format_time(self.corrected_at)}"

    @property
    def pairing(self) -> str:
        """The two teams, the same whichever is at home."""
        return matchup_key(self.home_team, self.away_team)

    @classmethod
    def first(cls, sport: str, game_id: str) -> Get[Self]:
        """The result of a game as first reported."""
        return cls.get(sport=sport, game_id=game_id, result="RESULT")

    @classmethod
    def final(cls, sport: str, game_id: str) -> Query[Self]:
        """The result of a game by the last correction."""
        return cls.row(sport=sport, game_id=game_id).newest(1)

    @classmethod
    def meetings(cls, sport: str, team: str, other: str, n: int = 10) -> Query[Self]:
        """The last games between two teams, newest first."""
        return cls.h2h(sport=sport, pairing=matchup_key(team, other)).newest(n)

    def record(self) -> Put[Self]:
        """Store a result or a correction once."""
        return self.put().if_absent()


class TeamOutcome(TeamRow, table=bets, times="seconds"):
    """A game from one team's perspective, for its recent form."""

    completed_at: datetime
    game_id: str
    opponent: str
    team_score: Decimal
    opponent_score: Decimal
    winner: str | None = None
    is_home: bool
    corrected_at: datetime | None = None

    row = key("TEAM_OUTCOME#{sport}#{team_slug}", "{completed_at}#{game_id}")
    form = key("TEAM#{sport}#{team_slug}", "{completed_at}", index="TeamOutcomesIndex")

    @classmethod
    def recent(cls, sport: str, team: str, n: int = 5) -> Query[Self]:
        """A team's last games, newest first."""
        return cls.form(sport=sport, team_slug=slug(team)).newest(n)

    def record(self) -> Put[Self]:
        """Store a team's game; a correction replaces it."""
        return self.put()


class AwaitedGame(GameRow, table=bets, times="seconds"):
    """A game whose result is needed to settle prices, predictions or bets."""

    row = key("AWAITED#{sport}", "{commence_time}#{game_id}")

    @classmethod
    def by_key(cls, sport: str, commence_time: datetime, game_id: str) -> Get[Self]:
        """Whether a game's result is awaited."""
        return cls.get(sport=sport, commence_time=commence_time, game_id=game_id)

    @classmethod
    def started_before(cls, sport: str, before: datetime) -> Query[Self]:
        """Awaited games that started before a time, oldest first."""
        return cls.row(sport=sport).before(commence_time=before)

    @classmethod
    def between(cls, sport: str, start: datetime, end: datetime) -> Query[Self]:
        """Awaited games that start within a period."""
        return cls.row(sport=sport).between(commence_time=(start, end))

    def save(self) -> Put[Self]:
        """Await a game's result."""
        return self.put()

    def remove(self) -> Delete[Self]:
        """Stop awaiting a game's result."""
        return type(self).delete(**self.identity())


class ResultRecord(GameRow, table=bets, times="seconds"):
    """A sport's result in the order games ended; a correction is another row."""

    completed_at: datetime
    home_score: Decimal
    away_score: Decimal
    known_at: datetime
    status: StoredScoreStatus = "final"
    corrected: bool = False

    row = key("RESULTS#{sport}", "{completed_at}#{game_id}#{known_at}")

    @classmethod
    def since(cls, sport: str, start: datetime) -> Query[Self]:
        """Results of games that ended from a time on, in order."""
        return cls.row(sport=sport).since(completed_at=start)

    @classmethod
    def between(cls, sport: str, start: datetime, end: datetime) -> Query[Self]:
        """Results of games that ended within a period, in order."""
        return cls.row(sport=sport).between(completed_at=(start, end))

    def record(self) -> Put[Self]:
        """Store a result."""
        return self.put()


class GameInfo(GameRow, table=bets, times="seconds"):
    """The sport, teams and start of a game, by its id alone.

    `quoted_at` maps each bookmaker to when its prices were last received, changed or not.
    """

    known_at: datetime
    quoted_at: dict[str, datetime] | None = None

    row = key("GAME#{game_id}", "NOTE")

    @classmethod
    def of_game(cls, game_id: str) -> Get[Self]:
        """The sport, teams and start of a game."""
        return cls.get(game_id=game_id)

    def save(self) -> Put[Self]:
        """Write a game's info, replacing what is stored."""
        return self.put()


class SportBookmaker(Entity, table=bets, times="seconds"):
    """A bookmaker that has quoted a sport."""

    sport: str
    bookmaker: str
    first_seen: datetime

    row = key("BOOKMAKERS#{sport}", "{bookmaker}")

    @classmethod
    def of_sport(cls, sport: str) -> Query[Self]:
        """The bookmakers of a sport, by name."""
        return cls.row(sport=sport)

    def save(self) -> Put[Self]:
        """Store that a bookmaker quotes a sport."""
        return self.put()


class QuotaUse(Entity, table=bets, times="seconds"):
    """The credits one request cost."""

    source: str
    at: datetime
    what: str
    credits: int
    left: int | None = None

    row = key("QUOTA#{source}", "{at}#{what}")

    def record(self) -> Put[Self]:
        """Store what a request cost."""
        return self.put()


class TeamStats(TeamRow, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """A team's stats on a date of a season."""

    season: str
    stat_date: date = attribute("date")
    stats: dict[str, Decimal]
    updated_at: datetime

    row = key("TEAM_STATS#{sport}#{team_slug}", "{season}#{stat_date}")

    @classmethod
    def of_season(cls, sport: str, team: str, season: str) -> Query[Self]:
        """A team's stats of a season, newest first."""
        return cls.row(sport=sport, team_slug=slug(team), season=season).newest()

    def save(self) -> Put[Self]:
        """Write a team's stats of a date, replacing what is stored."""
        return self.put()

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Read the date of rows without a version from the key."""
        return {"date": end_of_key(item), **item}


class PlayerStats(Entity, table=bets, times="seconds"):
    """A player's stats in a game."""

    player_name: str
    sport: str
    team: str
    game_id: str
    stats: dict[str, Decimal]
    updated_at: datetime

    row = key("PLAYER_STATS#{sport}#{player_name}", "{game_id}")
    by_game = key("{game_id}", "PLAYER_STATS#{sport}#{player_name}", index="GameIndex")

    @classmethod
    def of_player(cls, sport: str, player_name: str) -> Query[Self]:
        """A player's stats in every game."""
        return cls.row(sport=sport, player_name=player_name)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Every player's stats in a game."""
        return cls.by_game(game_id=game_id)

    def save(self) -> Put[Self]:
        """Write a player's stats in a game, replacing what is stored."""
        return self.put()


class ScheduledGame(TeamRow, table=bets, times="seconds"):
    """A game on a team's schedule, and when it became known."""

    opponent: str
    starts_at: datetime
    is_home: bool
    known_at: datetime

    row = key("SCHEDULE#{sport}#{team_slug}", "{starts_at}#{opponent_slug}")

    @property
    def opponent_slug(self) -> str:
        return slug(self.opponent)

    @classmethod
    def of_team(cls, sport: str, team: str, since: datetime) -> Query[Self]:
        """A team's games from a time on, played and upcoming."""
        return cls.row(sport=sport, team_slug=slug(team)).since(starts_at=since)

    def save(self) -> Put[Self]:
        """Write a scheduled game, replacing what is stored."""
        return self.put()


class Injury(TeamRow, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """A player's injury as reported on a date."""

    player: str
    reported_on: date = attribute("date")
    status: InjuryStatus
    injury: str
    impact: Decimal
    updated_at: datetime

    row = key("INJURIES#{sport}#{team_slug}", "{player}#{reported_on}")

    @classmethod
    def of_team(cls, sport: str, team: str) -> Query[Self]:
        """Every injury reported of a team's players."""
        return cls.row(sport=sport, team_slug=slug(team))

    def save(self) -> Put[Self]:
        """Write the report of a date, replacing what is stored."""
        return self.put()

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Read the date of rows without a version from the key."""
        return {"date": end_of_key(item), **item}
