"""Tables and items for tests of the embedded engine."""

from dataclasses import replace

from grandstand.storage.tables.attribute_values import Item, Key, Value
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.expressions.nodes import KeyCondition, Path, Range
from grandstand.storage.tables.requests import GetItem, PutItem, QueryRequest
from grandstand.storage.tables.schema import IndexSchema, KeyType, TableSchema

BY_TEAM = IndexSchema("by-team", ("team",), ("points",))
BY_DAY = IndexSchema("by-day", ("game",), ("day",), projection="KEYS_ONLY", local=True)
BY_PLACE = IndexSchema("by-place", ("country", "city"), ("year", "hall"), projection="INCLUDE")
TYPES: dict[str, KeyType] = {
    "game": "S",
    "play": "S",
    "team": "S",
    "points": "N",
    "day": "S",
    "country": "S",
    "city": "S",
    "year": "N",
    "hall": "S",
}
PLAYS = TableSchema("plays", "game", "play", TYPES, (BY_TEAM, BY_DAY))
PLACES = replace(PLAYS, name="places", indexes=(replace(BY_PLACE, included=("note",)),))
KEY: Key = {"game": "g1", "play": "p0001"}
TEAMS = TableSchema("teams", "team", None, {"team": "S"})


def play(number: int, game: str = "g1", **more: Value) -> Item:
    """An item of the plays."""
    return {"game": game, "play": f"p{number:04d}", **more}


def put(engine: Engine, *items: Item, table: str = "plays") -> None:
    """Put items one by one."""
    for item in items:
        engine.put(PutItem(table, item))


def find(engine: Engine, item: Item, table: str = "plays") -> Item | None:
    """Read what is kept under the item's key."""
    return engine.get(GetItem(table, {"game": item["game"], "play": item["play"]})).item


def path(*steps: str | int) -> Path:
    """A path in an item."""
    return Path(steps)


def of_game(game: str = "g1", given: Range | None = None) -> KeyCondition:
    """The plays of a game."""
    return KeyCondition((("game", game),), given)


def of_team(team: str, given: Range | None = None) -> QueryRequest:
    """The plays of a team, by points."""
    return QueryRequest("plays", KeyCondition((("team", team),), given), index="by-team")


def numbers(items: tuple[Item, ...]) -> list[int]:
    """The numbers of plays, in the order found."""
    return [int(str(item["play"])[1:]) for item in items]
