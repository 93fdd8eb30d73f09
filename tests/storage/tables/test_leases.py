"""A lease has one holder at a time, and a holder that was overtaken can write nothing more."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import Entity, Naming, Store, Table, attribute, key
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault, LeaseLost
from grandstand.storage.tables.leases import PLATFORM_LEASES, Lease, LeaseForm, Leases
from grandstand.storage.tables.platform_tables import LeaseRecord
from grandstand.storage.tables.platform_tables import leases as leases_table
from grandstand.storage.tables.requests import GetItem, PutItem, Written

locks = Table("cricket-locks", partition="lockKey")
matches = Table("fenced-matches", partition="matchId")


class Lock(Entity, table=locks, names="camel", times="epoch_ms"):
    lock_key: str
    owner: str
    holder: str
    nonce: str
    expires_at: datetime

    row = key("{lock_key}")


class Match(Entity, table=matches, names="camel"):
    match_id: str
    score: str
    epoch: int | None = None

    row = key("{match_id}")


class Slow(Entity, table=Table("slow-locks", partition="lockKey"), times="epoch"):
    lock_key: str = attribute("lockKey")
    owner: str
    nonce: str
    expires_at: datetime

    row = key("{lock_key}")


LOCKS = LeaseForm(Lock, "lock_key", mirrors=("holder",))
FORMS = {"cricket-locks": LOCKS, "platform": PLATFORM_LEASES}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def store(engine: Engine, naming: Naming, clock: ManualClock) -> Store:
    made = Store(engine, naming=naming, clock=clock)
    made.create((leases_table, locks))
    return made


@pytest.fixture(params=list(FORMS))
def form(request: pytest.FixtureRequest) -> LeaseForm:
    return FORMS[request.param]


@dataclass
class AnswersTwice:
    """A connection that loses the first answer to a put and sends the put again."""

    engine: Engine

    def put(self, request: PutItem) -> Written:
        self.engine.put(request)
        return self.engine.put(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


def _contend(store: Store, start: threading.Barrier, owner: str) -> list[int | None]:
    """Take and release a lease a few times; answer the tokens had."""
    leases = Leases(PLATFORM_LEASES, owner, seconds=60)
    tokens = []
    start.wait()
    for _ in range(5):
        lease = store(leases.acquire("contended"))
        if lease is not None:
            tokens.append(lease.token)
            store(leases.release(lease))
    return tokens


def held(lease: Lease | None) -> Lease:
    assert lease is not None
    return lease


def test_a_lease_is_had_by_one_owner_at_a_time(store: Store, form: LeaseForm) -> None:
    first, second = Leases(form, "ada"), Leases(form, "bob")

    lease = store(first.acquire("match:1"))

    assert held(lease).owner == "ada"
    assert store(second.acquire("match:1")) is None
    assert store(first.acquire("match:1")) is None
    assert store(second.acquire("match:2")) is not None


def test_a_released_lease_is_free_at_once(store: Store, form: LeaseForm) -> None:
    first, second = Leases(form, "ada"), Leases(form, "bob")
    lease = held(store(first.acquire("match:1")))

    released = store(first.release(lease))

    assert released
    assert held(store(second.acquire("match:1"))).owner == "bob"


def test_an_expired_lease_is_taken_only_after_the_grace(
    store: Store, form: LeaseForm, clock: ManualClock
) -> None:
    first = Leases(form, "ada", seconds=10)
    second = Leases(form, "bob", seconds=10, grace_seconds=1)
    store(first.acquire("match:1"))

    clock.advance(10.9)
    within_grace = store(second.acquire("match:1"))
    clock.advance(0.2)
    after_grace = store(second.acquire("match:1"))

    assert within_grace is None
    assert held(after_grace).owner == "bob"


def test_a_holder_that_was_overtaken_can_neither_renew_nor_release(
    store: Store, form: LeaseForm, clock: ManualClock
) -> None:
    first, second = Leases(form, "ada"), Leases(form, "bob")
    lost = held(store(first.acquire("match:1")))
    clock.advance(12)
    taken = held(store(second.acquire("match:1")))

    with pytest.raises(LeaseLost, match="ada no longer holds"):
        store(first.renew(lost))
    released = store(first.release(lost))

    assert not released
    assert store(second.renew(taken)).owner == "bob"


def test_an_earlier_acquisition_of_the_same_owner_is_overtaken_too(
    store: Store, form: LeaseForm, clock: ManualClock
) -> None:
    leases = Leases(form, "ada")
    before = held(store(leases.acquire("match:1")))
    clock.advance(12)
    store(leases.acquire("match:1"))

    with pytest.raises(LeaseLost):
        store(leases.renew(before))


def test_renewing_moves_the_expiry_for_everybody(
    store: Store, form: LeaseForm, clock: ManualClock
) -> None:
    first, second = Leases(form, "ada", seconds=10), Leases(form, "bob")
    lease = held(store(first.acquire("match:1")))
    clock.advance(8)

    renewed = store(first.renew(lease))
    clock.advance(8)

    assert renewed.expires_at > lease.expires_at
    assert renewed.left(clock) == pytest.approx(2, abs=0.01)
    assert store(second.acquire("match:1")) is None


def test_a_late_renewal_succeeds_while_nobody_has_taken_the_lease(
    store: Store, form: LeaseForm, clock: ManualClock
) -> None:
    leases = Leases(form, "ada")
    lease = held(store(leases.acquire("match:1")))
    clock.advance(60)

    renewed = store(leases.renew(lease))

    assert renewed.left(clock) == pytest.approx(10, abs=0.01)
    assert renewed.token == lease.token


def test_renewing_a_released_lease_is_refused(store: Store, form: LeaseForm) -> None:
    leases = Leases(form, "ada")
    lease = held(store(leases.acquire("match:1")))
    store(leases.release(lease))

    with pytest.raises(LeaseLost):
        store(leases.renew(lease))


def test_a_put_sent_twice_is_recognised_by_its_nonce(
    engine: Engine, naming: Naming, clock: ManualClock, form: LeaseForm
) -> None:
    Store(engine, naming=naming, clock=clock).create((leases_table, locks))
    doubling = Store(cast("Engine", AnswersTwice(engine)), naming=naming, clock=clock)

    lease = doubling(Leases(form, "ada").acquire("match:1"))

    assert held(lease).owner == "ada"


def test_the_same_acquisition_run_again_is_the_same_lease(store: Store, form: LeaseForm) -> None:
    acquire = Leases(form, "ada").acquire("match:1")

    first, again = store(acquire), store(acquire)

    assert held(again).nonce == held(first).nonce
    assert held(again).token == held(first).token


def test_two_acquisitions_of_one_owner_have_different_nonces() -> None:
    leases = Leases(LOCKS, "ada")

    nonces = {leases.acquire("match:1").nonce for _ in range(100)}

    assert len(nonces) == 100


def test_tokens_rise_through_releases_and_expiries(store: Store, clock: ManualClock) -> None:
    leases = Leases(PLATFORM_LEASES, "ada")
    tokens = []

    for _ in range(3):
        lease = held(store(leases.acquire("nightly")))
        tokens.append(lease.token)
        store(leases.release(lease))
    held(store(leases.acquire("nightly")))
    clock.advance(12)
    tokens.append(held(store(Leases(PLATFORM_LEASES, "bob").acquire("nightly"))).token)

    assert tokens == [1, 2, 3, 5]


def test_the_counter_outlives_a_release_and_nothing_else_does(store: Store) -> None:
    leases = Leases(PLATFORM_LEASES, "ada")
    lease = held(store(leases.acquire("nightly")))

    store(leases.release(lease))

    assert store(LeaseRecord.one("nightly")) == LeaseRecord(name="nightly", epoch=1)


def test_a_lease_without_a_counter_leaves_nothing_behind(store: Store) -> None:
    leases = Leases(LOCKS, "ada")
    lease = held(store(leases.acquire("match:1")))

    store(leases.release(lease))

    assert store(Lock.get(lock_key="match:1")) is None


def test_the_lock_table_of_the_specification_is_written_as_specified(
    store: Store, clock: ManualClock
) -> None:
    lease = held(store(Leases(LOCKS, "i-1", seconds=10).acquire("match:77")))

    name = store.session.name(locks)
    item = store.session.engine.get(GetItem(name, {"lockKey": "match:77"}, consistent=True)).item

    assert item == {
        "lockKey": "match:77",
        "owner": "i-1",
        "holder": "i-1",
        "nonce": lease.nonce,
        "expiresAt": int((clock.epoch() + 10) * 1000),
    }


def test_a_lock_that_says_not_when_it_ends_is_never_taken(store: Store, clock: ManualClock) -> None:
    name = store.session.name(locks)
    store.session.engine.put(PutItem(name, {"lockKey": "match:1", "owner": "somebody"}))
    clock.advance(3600)

    lease = store(Leases(LOCKS, "ada").acquire("match:1"))

    assert lease is None
    found = store.session.engine.get(GetItem(name, {"lockKey": "match:1"}, consistent=True)).item
    assert found == {"lockKey": "match:1", "owner": "somebody"}


def test_a_late_writer_is_refused_by_what_it_writes_to(store: Store, clock: ManualClock) -> None:
    store.create((matches,))
    paused = held(store(Leases(PLATFORM_LEASES, "ada").acquire("match:1")))
    clock.advance(12)
    present = held(store(Leases(PLATFORM_LEASES, "bob").acquire("match:1")))
    store(Match(match_id="1", score="10/0", epoch=present.token).put().when(_fence(present)))

    late = Match(match_id="1", score="9/0", epoch=paused.token).put().when(_fence(paused))
    with pytest.raises(ConditionFailed):
        store(late)

    assert store.read(Match.get(match_id="1")).score == "10/0"
    store(Match(match_id="1", score="11/0", epoch=present.token).put().when(_fence(present)))


def _fence(lease: Lease) -> Any:
    return lease.fences(Match.epoch)


def test_a_lease_without_a_token_fences_nothing(store: Store) -> None:
    lease = held(store(Leases(LOCKS, "ada").acquire("match:1")))

    with pytest.raises(DeclarationFault, match="Give its form a counter"):
        lease.fences(Match.epoch)


def test_the_holder_stops_by_its_own_clock_before_anybody_may_take_over(
    store: Store, clock: ManualClock
) -> None:
    lease = held(store(Leases(PLATFORM_LEASES, "ada", seconds=10).acquire("nightly")))

    clock.advance(9.9)
    lease.check(clock)
    clock.advance(0.2)

    with pytest.raises(LeaseLost, match="expired before it was renewed"):
        lease.check(clock)


def test_a_coarse_expiry_shortens_the_lease_of_its_holder_as_well() -> None:
    form = LeaseForm(Slow, "lock_key")
    moment = datetime.fromisoformat("2026-11-16T10:00:00.900+00:00")

    record = form.record("a", "ada", "n", moment)

    assert record["expires_at"] == moment.replace(microsecond=0)


def test_many_contenders_get_one_lease_and_different_tokens(engine: Engine, naming: Naming) -> None:
    store = Store(engine, naming=naming, clock=SystemClock())
    store.create((leases_table,))
    start = threading.Barrier(4)

    with ThreadPoolExecutor(4) as threads:
        had = threads.map(lambda n: _contend(store, start, f"owner-{n}"), range(4))
        tokens = [token for some in had for token in some]

    assert tokens
    assert len(set(tokens)) == len(tokens)
    assert store.read(LeaseRecord.one("contended")).epoch == len(tokens)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LeaseForm(Lock, "lock_key", owner="chief"), "has no field chief"),
        (lambda: LeaseForm(Lock, "owner"), "must be owner alone"),
        (lambda: LeaseForm(Slow, "lock_key", counter="lock_key"), "be None"),
    ],
)
def test_an_entity_that_cannot_be_a_lease_is_refused(make: Any, sentence: str) -> None:
    with pytest.raises(DeclarationFault, match=sentence):
        make()
