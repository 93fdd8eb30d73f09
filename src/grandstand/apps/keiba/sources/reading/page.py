"""Kept here: a page as it came, opened for reading, and what reading it answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode

from grandstand.apps.keiba.model.errors import PageUnreadable
from grandstand.apps.keiba.sources.reading.decoding import Decoded, decode
from grandstand.apps.keiba.sources.reading.text import normal

T = TypeVar("T")

# The largest page seen, a card, has 330 KB.
MOST_BYTES: Final = 4 * 1024 * 1024
_MOST_WARNINGS: Final = 50
# Above this share of unreadable places it is not a page with some damage but no text at all.
_LOST_SHARE: Final = 0.02
# Nested blocks cost the parser time by their square: 20 000 tags take a second at worst.
_MANY_TAGS: Final = 20_000
_DEEPEST: Final = 500
_TAG: Final = re.compile(r"<(/?)([a-zA-Z]+)")
_FLAT: Final = frozenset(
    {"br", "img", "input", "link", "meta", "hr", "col", "wbr", "tr", "td", "th", "thead"}
    | {"tbody", "tfoot", "li", "p", "option"}
)
_CLOSED_IN_FRAGMENTS: Final = ("table", "dl", "ul", "div")
_BLOCKING: Final = re.compile(
    r"captcha|access denied|too many requests|are you a robot|unusual traffic|just a moment"
    r"|アクセス(?:が|を)?(?:制限|拒否|集中)|不正なアクセス|ロボットではありません",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Page:
    """What came from an address."""

    address: str
    body: bytes = field(repr=False)
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A value read from a page, and what could not be read or does not agree in it."""

    value: T
    warnings: tuple[str, ...] = ()


class Reading:
    """A page being read: its tree, and what there is to say about it."""

    def __init__(self, address: str, text: str) -> None:
        self.address = address
        self.text = text
        self.tree = LexborHTMLParser(text)
        self._warnings: dict[str, None] = {}

    def warn(self, what: str) -> None:
        """Note what is missing or does not agree; the same thing is noted once."""
        self._warnings[what] = None

    def unreadable(self, why: str) -> PageUnreadable:
        """Answer the error that names this page."""
        return PageUnreadable(self.address, why)

    def parsed(self, value: T) -> Parsed[T]:
        """Answer a value with all that was noted."""
        warnings = tuple(self._warnings)
        more = len(warnings) - _MOST_WARNINGS
        if more > 0:
            warnings = (*warnings[:_MOST_WARNINGS], f"{more} more of the kind")
        return Parsed(value, warnings)


def open_page(page: Page, *, whole: bool = True) -> Reading:
    """Open a page for reading; raise PageUnreadable when it is empty, too large, cut or no text.

    What is not `whole` may end without its last tags, as text inside JSON does.
    """
    decoded = page_text(page)
    text = decoded.text
    if text.count("<") > _MANY_TAGS and _depth(text) > _DEEPEST:
        raise PageUnreadable(page.address, "its tags are nested without end")
    if whole and (cut := cut_off(text)):
        raise PageUnreadable(page.address, f"it is cut off: {cut}")
    reading = Reading(page.address, text)
    if decoded.lost:
        reading.warn(f"{decoded.lost} places of the page cannot be read as {decoded.encoding}")
    if decoded.said not in {None, decoded.encoding} and not text.isascii():
        reading.warn(f"the page says that it is {decoded.said}, and is {decoded.encoding}")
    return reading


def page_text(page: Page) -> Decoded:
    """Answer a page's text; raise PageUnreadable when it is empty, too large or no text."""
    size = len(page.body)
    if size > MOST_BYTES:
        raise PageUnreadable(page.address, f"{size} bytes are more than any page there has")
    decoded = decode(page.body, page.content_type)
    if not decoded.text.strip():
        raise PageUnreadable(page.address, "it is empty")
    if decoded.lost > max(1, len(decoded.text) * _LOST_SHARE):
        raise PageUnreadable(page.address, "it is in no encoding known here")
    return decoded


def cut_off(text: str) -> str:
    """Answer by what a page is seen to end too early; nothing when it does not."""
    small = text.lower()
    if small.rfind("<") > small.rfind(">"):
        return "it ends within a tag"
    if "<html" in small:
        return "" if "</html" in small else "it has no end"
    for name in _CLOSED_IN_FRAGMENTS:
        if len(re.findall(rf"<{name}[\s>]", small)) > small.count(f"</{name}>"):
            return f"a {name} has no end"
    return ""


def turns_away(page: Page) -> bool:
    """Tell whether a page that could not be read says that we are not wanted."""
    if len(page.body) > MOST_BYTES:
        return False
    return _BLOCKING.search(normal(decode(page.body, page.content_type).text)) is not None


def _depth(text: str) -> int:
    depth = deepest = 0
    for closing, name in _TAG.findall(text):
        if name.lower() not in _FLAT:
            depth = max(0, depth - 1) if closing else depth + 1
            deepest = max(deepest, depth)
    return deepest


def text_of(node: LexborNode | None) -> str:
    """Answer the text of a node in its usual form; nothing when there is no node."""
    return "" if node is None else normal(node.text())


def lines_of(node: LexborNode) -> list[str]:
    """Answer the pieces of text in a node, each in its usual form, without the empty ones."""
    return [line for line in map(normal, node.text(separator="\n").split("\n")) if line]


def link_of(node: LexborNode | None) -> str:
    """Answer where the first link in a node, or the node itself, leads."""
    if node is None:
        return ""
    if node.tag == "a":
        return node.attributes.get("href") or ""
    first = next(node.iter(), None)
    if first is not None and first.tag == "a" and (leads := first.attributes.get("href")):
        return leads
    # A selector is compiled each time it is used, which takes longer than to look at one child.
    link = node.css_first("a[href]")
    return (link.attributes.get("href") or "") if link else ""


def classes_of(node: LexborNode) -> list[str]:
    """Answer the classes of a node."""
    return (node.attributes.get("class") or "").split()
