"""Stored wagers, betting limits, favorite teams and the ledger."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Literal, Self, TypeAlias

from grandstand.apps.bets.domain.ledger import Posting
from grandstand.apps.bets.domain.records import slug
from grandstand.apps.bets.store import GameRow, TeamRow, bets
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, Update, key, version

WagerStatus: TypeAlias = Literal["open", "settled", "void"]


class Wager(GameRow, table=bets, times="seconds"):
    """A user's bet and its settlement, indexed by game too."""

    user_id: str
    wager_id: str
    market_key: str
    selection: str
    prediction: str
    odds: int
    stake_cents: int
    bookmaker: str | None = None
    note: str | None = None
    placed_at: datetime
    status: WagerStatus = "open"
    verdict: str | None = None
    payout_cents: int | None = None
    profit_cents: int | None = None
    closing: Decimal | None = None
    clv: Decimal | None = None
    settled_at: datetime | None = None
    revision: int = 0

    row = key("WAGER#{user_id}", "{wager_id}")
    by_game = key("WAGERS#{game_id}", "{user_id}#{wager_id}", index="GameIndex")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A user's bets, newest first."""
        return cls.row(user_id=user_id).newest()

    @classmethod
    def by_id(cls, user_id: str, wager_id: str) -> Get[Self]:
        """One bet of a user, read consistently."""
        return cls.get(user_id=user_id, wager_id=wager_id).consistent()

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Everybody's bets on a game."""
        return cls.by_game(game_id=game_id)

    def record(self) -> Put[Self]:
        """Store a bet once, in the transaction that counts its stake."""
        return self.put().if_absent()

    def settle(
        self,
        at: datetime,
        status: WagerStatus,
        verdict: str,
        *,
        payout_cents: int,
        profit_cents: int,
        closing: Decimal | None = None,
        clv: Decimal | None = None,
    ) -> Update[Self]:
        """Settle a bet, or settle it again, if it did not change since it was read."""
        update = type(self).update(**self.identity())
        update = update.set(
            status=status,
            verdict=verdict,
            payout_cents=payout_cents,
            profit_cents=profit_cents,
            closing=closing,
            clv=clv,
            settled_at=at,
            revision=self.revision + 1,
        )
        return update.when(Wager.revision == self.revision)

    def withdraw(self) -> Delete[Self]:
        """Delete an open bet, in the transaction that returns its stake."""
        return type(self).delete(**self.identity()).when(Wager.status == "open")


class BettingLimits(Entity, table=bets, times="seconds"):
    """A user's limits; None is no limit."""

    user_id: str
    stake_per_bet_cents: int | None = None
    stake_per_day_cents: int | None = None
    loss_per_week_cents: int | None = None
    wanted: dict[str, int] | None = None
    loosens_at: datetime | None = None
    time_out_until: datetime | None = None
    written: int = version()

    row = key("LIMITS#{user_id}", "CURRENT")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """A user's limits, read consistently."""
        return cls.get(user_id=user_id).consistent()

    def save(self) -> Put[Self]:
        """Write limits if they did not change since they were read."""
        return self.put()

    @classmethod
    def remove(cls, user_id: str) -> Delete[Self]:
        """Delete a user's limits."""
        return cls.delete(user_id=user_id)


class FavoriteTeam(TeamRow, table=bets, times="seconds"):
    """A user's favorite team, indexed by team too."""

    user_id: str
    since: datetime

    row = key("FAVORITES#{user_id}", "{sport}#{team_slug}")
    by_team = key("FAVORITE_TEAM#{sport}#{team_slug}", "{user_id}", index="GSI1")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A user's favorite teams."""
        return cls.row(user_id=user_id)

    @classmethod
    def of_team(cls, sport: str, team: str) -> Query[Self]:
        """Every user who follows a team."""
        return cls.by_team(sport=sport, team_slug=slug(team))

    def save(self) -> Put[Self]:
        """Add a favorite team."""
        return self.put()

    @classmethod
    def remove(cls, user_id: str, sport: str, team: str) -> Delete[Self]:
        """Remove a favorite team; the result is None if it was not one."""
        return cls.delete(user_id=user_id, sport=sport, team_slug=slug(team))


class LedgerEntry(Entity, table=bets, times="microseconds"):
    """An entry of a book, never changed; removed only with a user's personal data."""

    book: str
    seq: int
    event: str
    kind: str
    at: datetime
    postings: tuple[Posting, ...]
    previous: str
    digest: str

    row = key("LEDGER#{book}", "ENTRY#{place}")

    @property
    def place(self) -> str:
        """The entry number in sortable form."""
        return f"{self.seq:012d}"

    @classmethod
    def of_book(cls, book: str) -> Query[Self]:
        """Every entry of a book, oldest first."""
        return cls.row(book=book).consistent()

    @classmethod
    def by_place(cls, book: str, place: str) -> Get[Self]:
        """One entry by its number."""
        return cls.get(book=book, place=place).consistent()

    def append(self) -> Put[Self]:
        """Write the next entry once, in the transaction that advances the head."""
        return self.put().if_absent()


class LedgerHead(Entity, table=bets, times="microseconds"):
    """The last entry of a book, its balances, and the usage of its limits."""

    book: str
    seq: int
    digest: str
    balances: dict[str, int]
    day: date | None = None
    staked_cents: int = 0
    week: date | None = None
    profit_cents: int = 0

    row = key("LEDGER#{book}", "HEAD")

    @classmethod
    def of_book(cls, book: str) -> Get[Self]:
        """The state of a book, read consistently."""
        return cls.get(book=book).consistent()

    def advance(self, before: int) -> Put[Self]:
        """Advance from an entry if it is still the last one; 0 means an empty book."""
        if before == 0:
            return self.put().if_absent()
        return self.put().when(LedgerHead.seq == before)

    @classmethod
    def remove(cls, book: str) -> Delete[Self]:
        """Delete the state of a book with a user's personal data."""
        return cls.delete(book=book)


class LedgerMark(Entity, table=bets, times="microseconds"):
    """Marks an event as entered in a book."""

    book: str
    event: str
    seq: int

    row = key("LEDGER_EVENT#{book}", "{event}")

    @classmethod
    def of_event(cls, book: str, event: str) -> Get[Self]:
        """Whether an event is entered, read consistently."""
        return cls.get(book=book, event=event).consistent()

    def set_once(self) -> Put[Self]:
        """Mark an event as entered, once."""
        return self.put().if_absent()

    @classmethod
    def remove(cls, book: str, event: str) -> Delete[Self]:
        """Delete the mark of an event with a user's personal data."""
        return cls.delete(book=book, event=event)


class LedgerBook(Entity, table=bets, times="microseconds"):
    """Marks that a book exists."""

    book: str

    row = key("LEDGERS", "{book}")

    @classmethod
    def all_books(cls) -> Query[Self]:
        """Every book."""
        return cls.row()

    def save(self) -> Put[Self]:
        """Store that a book exists."""
        return self.put()

    @classmethod
    def remove(cls, book: str) -> Delete[Self]:
        """Delete a book with a user's personal data."""
        return cls.delete(book=book)
