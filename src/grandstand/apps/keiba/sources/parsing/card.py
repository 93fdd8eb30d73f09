"""Kept here: the card of a race (shutuba): the race and its runners before the off."""

from __future__ import annotations

from decimal import Decimal
from string import digits
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.races import RaceCard, Runner
from grandstand.apps.keiba.sources.parsing.entrants import horse_of, jockey_of, trainer_of
from grandstand.apps.keiba.sources.parsing.race_facts import check_race, read_head
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.page import (
    Page,
    Parsed,
    Reading,
    classes_of,
    open_page,
    text_of,
)
from grandstand.apps.keiba.sources.reading.tables import cells_of

_NUMBERED: Final = frozenset({"Waku", "Umaban"})
_GONE: Final = ("取消", "除外")
_FRAMES: Final = 8


def parse_card(page: Page, race_id: str) -> Parsed[RaceCard]:
    """Answer a card; raise PageUnreadable when not one runner is found."""
    reading = open_page(page)
    check_race(reading, race_id)
    table = reading.tree.css_first("table.Shutuba_Table")
    if table is None:
        raise reading.unreadable("it has no table of runners")
    runners: dict[str, Runner] = {}
    rows = table.css("tr.HorseList")
    for place, row in enumerate(rows, 1):
        runner = _runner(row, reading, f"row {place}")
        if runner is not None and runners.setdefault(runner.horse_id, runner) is not runner:
            reading.warn(f"{runner.horse_name} stands on the card twice")
    if not runners:
        raise reading.unreadable("not one runner is found on it")
    head = read_head(reading, race_id)
    card = RaceCard(race_id=race_id, horses=tuple(runners.values()), **head.given)
    _compare(card, reading)
    return reading.parsed(card)


def _compare(card: RaceCard, reading: Reading) -> None:
    """Note where the runners do not agree with each other or with the head."""
    if card.runner_count is not None and card.runner_count != len(card.horses):
        reading.warn(f"the page speaks of {card.runner_count} runners and has {len(card.horses)}")
    numbers = [runner.horse_number for runner in card.horses if runner.horse_number is not None]
    if len(set(numbers)) < len(numbers):
        reading.warn("two runners have the same number")
    if numbers and len(numbers) < len([one for one in card.horses if not one.scratched]):
        reading.warn("some runners have a number and some have none")


def _runner(row: LexborNode, reading: Reading, where: str) -> Runner | None:
    cells = _cells(row)
    horse = horse_of(cells.get("HorseInfo") or row.css_first(".HorseName"), reading, where)
    if horse is None:
        return None
    jockey, trainer = jockey_of(cells.get("Jockey")), trainer_of(cells.get("Trainer"))
    sex, age = text.sex_and_age(text_of(cells.get("Barei")))
    weight, change = text.body_weight(text_of(cells.get("Weight")))
    frame = text.positive(text_of(cells.get("Waku")))
    carried = text.decimal(text_of(cells.get("carried")))
    scratched = _scratched(row)
    if carried is None and not scratched:
        reading.warn(f"{horse.name} has no weight to carry")
    if jockey.name is None and not scratched:
        reading.warn(f"{horse.name} has no jockey")
    return Runner(
        horse_id=horse.id,
        horse_name=horse.name,
        jockey_id=jockey.id,
        jockey_name=jockey.name,
        frame_number=frame if frame is not None and frame <= _FRAMES else None,
        horse_number=text.positive(text_of(cells.get("Umaban"))),
        carried_weight=carried,
        sex=sex,
        age=age,
        trainer_id=trainer.id,
        trainer_name=trainer.name,
        stable=trainer.beside,
        body_weight=weight,
        body_weight_change=change,
        scratched=scratched,
        win_odds=_odds(cells.get("Popular")),
        popularity=text.positive(text_of(cells.get("Popular_Ninki"))),
    )


def _cells(row: LexborNode) -> dict[str, LexborNode]:
    """Answer the cells by what they are: the carried weight is the one after sex and age."""
    found: dict[str, LexborNode] = {}
    before: list[str] = []
    for cell in cells_of(row):
        names = [_plain(name) for name in classes_of(cell)]
        for name in names:
            found.setdefault(name, cell)
        if "Barei" in before:
            found.setdefault("carried", cell)
        before = names
    return found


def _plain(name: str) -> str:
    """Answer a class without the number behind Waku and Umaban, which is a colour."""
    plain = name.rstrip(digits)
    return plain if plain in _NUMBERED else name


def _scratched(row: LexborNode) -> bool:
    """Tell whether a row says that its horse does not run; what can be chosen says nothing."""
    if "Cancel" in classes_of(row):
        return True
    if not any(word in row.text() for word in _GONE):
        return False
    said = [cell for cell in cells_of(row) if any(word in cell.text() for word in _GONE)]
    return any(cell.css_first("select") is None for cell in said)


def _odds(cell: LexborNode | None) -> Decimal | None:
    """Answer the odds of a win, which stand for nothing before they are sold."""
    odds = text.decimal(text_of(cell))
    return odds if odds is not None and odds > 0 else None
