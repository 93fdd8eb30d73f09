"""The platform's own tables are as whoever shares a database with us may rely on."""

from datetime import UTC, datetime, timedelta

from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES, Consumer, Flight, LeaseRecord
from grandstand.storage.tables.requests import ScanRequest

MOMENT = datetime(2026, 11, 16, 12, 0, 0, 500_000, tzinfo=UTC)


def test_the_house_has_two_tables_of_its_own() -> None:
    schemas = [table.schema(Naming()) for table in PLATFORM_TABLES]

    assert [(schema.name, schema.key_names, schema.ttl) for schema in schemas] == [
        ("grandstand-leases", ("leaseKey",), "ttl"),
        ("grandstand-consumers", ("consumer", "sourceTable"), None),
    ]


def test_leases_and_flights_share_a_table_and_are_told_apart(store: Store) -> None:
    store.create(PLATFORM_TABLES)
    lease = LeaseRecord(name="x", owner="ada", nonce="n", epoch=3, expires_at=MOMENT)
    flight = Flight(name="x", owner="ada", nonce="n", expires_at=MOMENT, gone_at=None)

    store(lease.put())
    store(flight.put())

    page = store.session.engine.scan(
        ScanRequest(store.session.name(PLATFORM_TABLES[0]), consistent=True)
    )
    milliseconds = int(MOMENT.timestamp() * 1000)
    assert sorted(page.items, key=lambda item: str(item["leaseKey"])) == [
        {
            "leaseKey": "FLIGHT#x",
            "name": "x",
            "owner": "ada",
            "nonce": "n",
            "expiresAt": milliseconds,
            "ttl": int((MOMENT + timedelta(hours=1)).timestamp()),
        },
        {
            "leaseKey": "LEASE#x",
            "name": "x",
            "owner": "ada",
            "nonce": "n",
            "epoch": 3,
            "expiresAt": milliseconds,
        },
    ]
    assert store(LeaseRecord.one("x")) == lease


def test_a_consumer_is_found_by_its_name_and_its_table(store: Store) -> None:
    store.create(PLATFORM_TABLES)
    mine = Consumer(name="settler", source="bets", position="7")
    store(mine.put())
    store(Consumer(name="settler", source="other", position="9").put())
    store(Consumer(name="auditor", source="bets", position="1").put())

    assert store(Consumer.one("settler", "bets")) == mine
    assert [one.source for one in store(Consumer.row(name="settler"))] == ["bets", "other"]
