"""Whatever comes instead of a page is a value with warnings or one clear error, never a crash."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.sources.html_reader import MAX_PAGE_BYTES, Page, Parsed, is_block_page
from grandstand.apps.keiba.sources.profile_parser import (
    parse_horse_profile,
    parse_horse_results,
    parse_jockey,
    parse_pedigree,
)
from grandstand.apps.keiba.sources.race_parser import (
    parse_card,
    parse_day_list,
    parse_local_odds,
    parse_meeting_days,
    parse_odds,
    parse_result,
)
from tests.apps.keiba.sources.horse_pages import (
    CAREER,
    HORSE,
    JOCKEY,
    NEW_HEADERS,
    RUNS,
    jockey,
    pedigree,
    profile,
    results,
)
from tests.apps.keiba.sources.race_pages import (
    LOCAL,
    LOCAL_ODDS,
    RACE,
    THREE_RUNNERS,
    THREE_VENUES,
    WITH_DEAD_HEAT,
)

ADDRESS = "https://race.example/garbage"
ODDS = {"status": "middle", "data": {"odds": {"1": {"01": ["2.4", "0", "1"]}}}}
READERS: dict[str, tuple[Callable[[Page], Parsed[Any]], str]] = {
    "day": (parse_day_list, THREE_VENUES),
    "days": (parse_meeting_days, '<ul><li date="20261115"></li></ul>'),
    "card": (partial(parse_card, race_id=RACE), THREE_RUNNERS),
    "result": (partial(parse_result, race_id=RACE), WITH_DEAD_HEAT),
    "profile": (partial(parse_horse_profile, horse_id=HORSE), profile()),
    "results": (partial(parse_horse_results, horse_id=HORSE), results(NEW_HEADERS, *RUNS)),
    "pedigree": (partial(parse_pedigree, horse_id=HORSE), pedigree()),
    "jockey": (partial(parse_jockey, jockey_id=JOCKEY), jockey(CAREER)),
    "odds": (partial(parse_odds, race_id=RACE), json.dumps(ODDS)),
    "local odds": (partial(parse_local_odds, race_id=LOCAL), LOCAL_ODDS),
}
CAPTCHA = (
    '<!DOCTYPE html><html><body><form id="captcha"><p>ロボットではありませんか</p></form>'
    "</body></html>"
)
each_kind = pytest.mark.parametrize("kind", READERS)
fuzzed = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def outcome(kind: str, body: bytes, content_type: str = "text/html") -> Parsed[Any] | str:
    """What reading answers, or the error's words; any other exception fails the test."""
    try:
        return READERS[kind][0](Page(ADDRESS, body, content_type))
    except (PageUnreadable, NotPublished) as error:
        return str(error)


@each_kind
def test_the_page_itself_can_be_read(kind: str) -> None:
    assert isinstance(outcome(kind, READERS[kind][1].encode()), Parsed)


@each_kind
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \r\n\t ",
        b"\x00" * 500,
        bytes(range(256)) * 40,
        b"\xff\xfe" * 3000,
        CAPTCHA.encode(),
        b"<html><body>no such page</body></html>",
        b"x" * (MAX_PAGE_BYTES + 1),
        b"<html>" + b"<div>" * 30_000 + b"</html>",
        b"<html>" + b"<dl><dd>" * 10_000 + b"</dd></dl>" * 10_000 + b"</html>",
        b"null",
        b"{}",
    ],
    ids=[
        "empty",
        "blank",
        "noughts",
        "every byte",
        "no encoding",
        "captcha",
        "another page",
        "huge",
        "deep",
        "deep and closed",
        "null",
        "an empty object",
    ],
)
def test_garbage_is_one_error_that_names_the_page(kind: str, body: bytes) -> None:
    message = outcome(kind, body)

    assert isinstance(message, str)
    assert message.startswith(ADDRESS)


@each_kind
@given(data=st.data())
@fuzzed
def test_a_page_cut_anywhere_is_an_error_or_lacks_nothing(kind: str, data: st.DataObject) -> None:
    whole = READERS[kind][1].encode()
    end = data.draw(st.integers(0, len(whole) - 1))

    found = outcome(kind, whole[:end])

    assert isinstance(found, str) or found.value == outcome(kind, whole).value  # type: ignore[union-attr]


@each_kind
@given(data=st.data())
@fuzzed
def test_bytes_that_flip_break_nothing(kind: str, data: st.DataObject) -> None:
    body = bytearray(READERS[kind][1].encode(data.draw(st.sampled_from(["utf-8", "euc_jp"]))))
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=30)):
        body[at] ^= 1 << data.draw(st.integers(0, 7))

    found = outcome(kind, bytes(body))

    assert isinstance(found, Parsed) or found.startswith(ADDRESS)


@each_kind
@given(data=st.data())
@fuzzed
def test_tags_that_are_missing_break_nothing(kind: str, data: st.DataObject) -> None:
    pieces = READERS[kind][1].replace("<", "\0<").replace(">", ">\0").split("\0")
    gone = data.draw(st.sets(st.integers(0, len(pieces) - 1), max_size=25))
    text = "".join(piece for at, piece in enumerate(pieces) if at not in gone)

    found = outcome(kind, text.encode())

    assert isinstance(found, Parsed) or found.startswith(ADDRESS)


@each_kind
@given(first=st.sampled_from(sorted(READERS)), body=st.binary(max_size=200))
@fuzzed
def test_a_page_of_another_kind_with_rubbish_behind_it_breaks_nothing(
    kind: str, first: str, body: bytes
) -> None:
    found = outcome(kind, READERS[first][1].encode() + body, "text/html; charset=x-unknown")

    assert isinstance(found, Parsed) or found.startswith(ADDRESS)


def test_a_page_that_asks_whether_we_are_human_is_recognised() -> None:
    assert is_block_page(Page(ADDRESS, CAPTCHA.encode()))
    assert is_block_page(Page(ADDRESS, "<p>アクセスが制限されています</p>".encode("euc_jp")))
    assert not is_block_page(Page(ADDRESS, THREE_RUNNERS.encode()))
    assert not is_block_page(Page(ADDRESS, b"captcha" * MAX_PAGE_BYTES))
