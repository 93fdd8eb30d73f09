"""Reading the pages of a race: ours from bytes, the peers from text that is decoded for them.

Reading is work of the processor alone: its time is measured, in turns, and each one's best counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from itertools import islice

from benchmarks.harness.rows import Row, Times
from benchmarks.keiba.pages import RacePages
from benchmarks.keiba.soup import Soup
from grandstand.apps.keiba.sources.html_reader import Page, decode
from grandstand.apps.keiba.sources.profile_parser import parse_horse_results, parse_pedigree
from grandstand.apps.keiba.sources.race_parser import parse_card

_AIM = 10.0
_KEIBASCRAPER = "keibascraper"
_SOUP = "BeautifulSoup"
_FAST_SOUP = "BeautifulSoup on lxml"
_OURS = "ours"
_ROUNDS = 6

Read = Callable[[], object]


def rows(pages: RacePages, *, horses: int) -> list[Row]:
    """Measure the reading of a card and of the pages of its first horses."""
    few = _first(pages, horses)
    check_that_peers_agree(few)
    return [
        _row(few, "card, races and ancestors of a race", _KEIBASCRAPER),
        _row(few, "the same pages, every fact of a runner", _SOUP, _FAST_SOUP),
    ]


def check_that_peers_agree(pages: RacePages) -> None:
    """Raise RuntimeError unless BeautifulSoup's reading holds the same facts as ours."""
    soup = Soup("html.parser")
    card = parse_card(pages.card, pages.race_id).value
    theirs = soup.card(_text(pages.card))
    ours = [(one.horse_id, one.carried_weight, one.body_weight) for one in card.horses]
    _same(ours, [(e["horse_id"], e["carried_weight"], e["body_weight"]) for e in theirs])
    for horse_id, page in pages.results.items():
        form = parse_horse_results(page, horse_id).value
        runs = [(one.race_id, one.position, one.last_3f, one.prize) for one in form.recent_results]
        read = soup.results(_text(page))
        _same(runs, [(e["race_id"], e["着順"], e["上り"], e["賞金"]) for e in read])
    for horse_id, page in pages.pedigrees.items():
        ancestors = parse_pedigree(page, horse_id).value.ancestors
        known = sorted((one.generation, one.id or "", one.born_year or 0) for one in ancestors)
        read = soup.pedigree(_text(page))
        _same(known, sorted((e["generation"], e["id"] or "", e["born_year"] or 0) for e in read))


def _same(ours: object, theirs: object) -> None:
    if ours != theirs:
        message = f"the readings differ: {ours} and {theirs}"
        raise RuntimeError(message)


def _row(pages: RacePages, measure: str, peer: str, *others: str) -> Row:
    reads = {_OURS: _ours(pages), **{name: _PEERS[name](pages) for name in (peer, *others)}}
    best = dict.fromkeys(reads, math.inf)
    for _ in range(_ROUNDS):
        for name, read in reads.items():
            best[name] = min(best[name], _processor_seconds(read))
    rates = {name: pages.count / seconds for name, seconds in best.items()}
    return Row(
        measure=measure,
        unit="pages/s",
        ours=rates.pop(_OURS),
        peers=rates,
        aim=Times(_AIM, peer),
    )


def _processor_seconds(read: Read) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


def _ours(pages: RacePages) -> Read:
    def read() -> None:
        parse_card(pages.card, pages.race_id)
        for horse_id, page in pages.results.items():
            parse_horse_results(page, horse_id)
        for horse_id, page in pages.pedigrees.items():
            parse_pedigree(page, horse_id)

    return read


def _keibascraper(pages: RacePages) -> Read:
    """The parsing of keibascraper by itself: its loaders would ask the real site."""
    from keibascraper.parse import parse_html

    card = _text(pages.card)
    results = {horse_id: _text(page) for horse_id, page in pages.results.items()}
    pedigrees = {horse_id: _text(page) for horse_id, page in pages.pedigrees.items()}

    def read() -> None:
        parse_html("entry", card, pages.race_id)
        for horse_id, text in results.items():
            parse_html("history", text, horse_id)
        for horse_id, text in pedigrees.items():
            parse_html("horse", text, horse_id)

    return read


def _soup(parser: str, pages: RacePages) -> Read:
    soup = Soup(parser)
    card = _text(pages.card)
    results = [_text(page) for page in pages.results.values()]
    pedigrees = [_text(page) for page in pages.pedigrees.values()]

    def read() -> None:
        soup.card(card)
        for text in results:
            soup.results(text)
        for text in pedigrees:
            soup.pedigree(text)

    return read


_PEERS: dict[str, Callable[[RacePages], Read]] = {
    _KEIBASCRAPER: _keibascraper,
    _SOUP: partial(_soup, "html.parser"),
    _FAST_SOUP: partial(_soup, "lxml"),
}


def _first(pages: RacePages, horses: int) -> RacePages:
    return RacePages(
        pages.race_id,
        pages.card,
        dict(islice(pages.results.items(), horses)),
        dict(islice(pages.pedigrees.items(), horses)),
    )


def _text(page: Page) -> str:
    return decode(page.body, page.content_type).text
