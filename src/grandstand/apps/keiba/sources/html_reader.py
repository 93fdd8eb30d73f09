"""Reading of HTML pages: decoding, tree access, tables and links."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.sources.text_fields import compact, normalize

T = TypeVar("T")
Encoding: TypeAlias = Literal["utf-8", "euc-jp", "cp932"]

_REPLACEMENT: Final = "\ufffd"
_META: Final = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{3,20})", re.IGNORECASE)
_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{3,20})", re.IGNORECASE)
_NAMES: Final[dict[str, Encoding]] = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "euc-jp": "euc-jp",
    "eucjp": "euc-jp",
    "x-euc-jp": "euc-jp",
    "cp51932": "euc-jp",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "cp932": "cp932",
}
_USUAL: Final[tuple[Encoding, ...]] = ("utf-8", "euc-jp", "cp932")
_VENDOR: Final = "grandstand-cp51932"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page's text; `invalid` counts undecodable characters, `declared` is its own claim."""

    text: str
    encoding: Encoding
    invalid: int = 0
    declared: Encoding | None = None


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Decode a page with the encoding that leaves the fewest invalid characters.

    The HTTP header is tried first, then the page's own declaration, then the usual encodings. A
    declaration that the bytes contradict is ignored, and so is ISO-8859-1, a server default.
    """
    declared = _declared_encodings(body, content_type)
    first = declared[0] if declared else None
    # Nearly any bytes are valid CP932, so the stricter encodings are tried first.
    strict = [name for name in declared if name != "cp932"]
    candidates: list[Decoded] = []
    for encoding in dict.fromkeys((*strict, *_USUAL)):
        text = _decode_lenient(body, encoding)
        candidates.append(Decoded(text, encoding, text.count(_REPLACEMENT), first))
        if not candidates[-1].invalid:
            return candidates[-1]
    return min(candidates, key=lambda candidate: candidate.invalid)


def _declared_encodings(body: bytes, content_type: str) -> list[Encoding]:
    """Return the known encodings named by the header and the page."""
    names = _HEADER.findall(content_type)[:1]
    names += [name.decode("ascii") for name in _META.findall(body[:4096])[:1]]
    known = (_NAMES.get(name.lower().replace("_", "-")) for name in names)
    return [encoding for encoding in known if encoding is not None]


def _decode_lenient(body: bytes, encoding: Encoding) -> str:
    """Decode with replacement characters."""
    if encoding == "euc-jp":
        codecs.register_error(_VENDOR, _vendor_character)
        return body.decode("euc_jp", _VENDOR)
    return body.removeprefix(codecs.BOM_UTF8).decode(encoding, "replace")


def _vendor_character(error: UnicodeError) -> tuple[str, int]:
    """Decode the Windows extensions of EUC-JP (rows 13 and 89 to 92, such as circled numbers).

    Python's codec lacks them; their code points in CP932 follow from the same rows.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and min(pair) > 0xA0:
        row, cell = pair[0] - 0x80, pair[1] - 0x80
        first = ((row - 1) >> 1) + (0x71 if row <= 0x5E else 0xB1)
        odd = cell + (0x1F if cell < 0x60 else 0x20)
        character = bytes((first, odd if row & 1 else cell + 0x7E)).decode("cp932", "replace")
        if len(character) == 1 and character != _REPLACEMENT:
            return character, error.start + 2
    return _REPLACEMENT, error.start + 1


# The largest page seen, a card, has 330 KB.
MAX_PAGE_BYTES: Final = 4 * 1024 * 1024
_MAX_WARNINGS: Final = 50
# A page with a larger share of invalid characters is not text.
_MAX_INVALID_SHARE: Final = 0.02
# Parsing time grows with the square of the nesting: 20,000 tags take a second at worst.
_MANY_TAGS: Final = 20_000
_MAX_DEPTH: Final = 500
_TAG: Final = re.compile(r"<(/?)([a-zA-Z]+)")
_VOID_TAGS: Final = frozenset(
    {"br", "img", "input", "link", "meta", "hr", "col", "wbr", "tr", "td", "th", "thead"}
    | {"tbody", "tfoot", "li", "p", "option"}
)
_BLOCKING: Final = re.compile(
    r"captcha|access denied|too many requests|are you a robot|unusual traffic|just a moment"
    r"|アクセス(?:が|を)?(?:制限|拒否|集中)|不正なアクセス|ロボットではありません",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Page:
    """A response body with its address."""

    address: str
    body: bytes = field(repr=False)
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A parsed value, with warnings about missing or inconsistent parts."""

    value: T
    warnings: tuple[str, ...] = ()


class PageReader:
    """A page being parsed: its tree and the warnings so far."""

    def __init__(self, address: str, text: str) -> None:
        self.address = address
        self.text = text
        self.tree = LexborHTMLParser(text)
        self._warnings: dict[str, None] = {}

    def warn(self, text: str) -> None:
        """Add a warning, once."""
        self._warnings[text] = None

    def unreadable(self, why: str) -> PageUnreadable:
        """Return the error to raise for this page."""
        return PageUnreadable(self.address, why)

    def parsed(self, value: T) -> Parsed[T]:
        """Return a value with the warnings."""
        warnings = tuple(self._warnings)
        more = len(warnings) - _MAX_WARNINGS
        if more > 0:
            warnings = (*warnings[:_MAX_WARNINGS], f"{more} more warnings")
        return Parsed(value, warnings)


def open_page(page: Page, *, whole: bool = True) -> PageReader:
    """Open a page for parsing.

    A fragment (not `whole`) may lack closing tags. Raises PageUnreadable if the page is empty, too
    large, truncated or not text.
    """
    decoded = page_text(page)
    text = decoded.text
    if text.count("<") > _MANY_TAGS and _depth(text) > _MAX_DEPTH:
        raise PageUnreadable(page.address, "its tags are nested too deeply")
    if whole and (cut := truncation_reason(text)):
        raise PageUnreadable(page.address, f"it is truncated: {cut}")
    reader = PageReader(page.address, text)
    if decoded.invalid:
        reader.warn(f"{decoded.invalid} characters are invalid in {decoded.encoding}")
    if decoded.declared not in {None, decoded.encoding} and not text.isascii():
        reader.warn(f"the page declares {decoded.declared} but is {decoded.encoding}")
    return reader


def page_text(page: Page) -> Decoded:
    """Return the decoded text of a page.

    Raises PageUnreadable if it is empty, too large or not text.
    """
    size = len(page.body)
    if size > MAX_PAGE_BYTES:
        raise PageUnreadable(page.address, f"{size} bytes is too large")
    decoded = decode(page.body, page.content_type)
    if not decoded.text.strip():
        raise PageUnreadable(page.address, "it is empty")
    if decoded.invalid > max(1, len(decoded.text) * _MAX_INVALID_SHARE):
        raise PageUnreadable(page.address, "unknown encoding")
    return decoded


def truncation_reason(text: str) -> str:
    """Return why a page looks truncated; empty if it does not."""
    lower = text.lower()
    if lower.rfind("<") > lower.rfind(">"):
        return "it ends inside a tag"
    if "<html" in lower:
        return "" if "</html" in lower else "</html> missing"
    for name in ("table", "dl", "ul", "div"):
        if len(re.findall(rf"<{name}[\s>]", lower)) > lower.count(f"</{name}>"):
            return f"</{name}> missing"
    return ""


def is_block_page(page: Page) -> bool:
    """Return whether an unparsable page is a block page or CAPTCHA."""
    if len(page.body) > MAX_PAGE_BYTES:
        return False
    return _BLOCKING.search(normalize(decode(page.body, page.content_type).text)) is not None


def _depth(text: str) -> int:
    depth = deepest = 0
    for closing, name in _TAG.findall(text):
        if name.lower() not in _VOID_TAGS:
            depth = max(0, depth - 1) if closing else depth + 1
            deepest = max(deepest, depth)
    return deepest


def node_text(node: LexborNode | None) -> str:
    """Return the normalized text of a node; empty if there is none."""
    return "" if node is None else normalize(node.text())


def node_lines(node: LexborNode) -> list[str]:
    """Return the non-empty lines of a node's text, normalized."""
    return [line for line in map(normalize, node.text(separator="\n").split("\n")) if line]


def node_link(node: LexborNode | None) -> str:
    """Return the href of a node or of the first link in it."""
    if node is None:
        return ""
    if node.tag == "a":
        return node.attributes.get("href") or ""
    first = next(node.iter(), None)
    if first is not None and first.tag == "a" and (href := first.attributes.get("href")):
        return href
    # Selectors are compiled at every use, which takes longer than looking at one child.
    link = node.css_first("a[href]")
    return (link.attributes.get("href") or "") if link else ""


def node_classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


@dataclass(frozen=True, slots=True)
class Row:
    """A table row with its cells and the columns of the table."""

    node: LexborNode
    cells: tuple[LexborNode, ...]
    columns: Mapping[str, int]

    def cell(self, *headers: str) -> LexborNode | None:
        """Return the cell of the first of these columns that exists."""
        for name in headers:
            at = self.columns.get(name)
            if at is not None:
                return self.cells[at] if at < len(self.cells) else None
        return None

    def text(self, *headers: str) -> str:
        """Return the text of the first of these columns that exists, else empty."""
        for name in headers:
            at = self.columns.get(name)
            if at is not None:
                return normalize(self.cells[at].text()) if at < len(self.cells) else ""
        return ""


def table_rows(table: LexborNode) -> list[LexborNode]:
    """Return the rows of a table, without those of nested tables."""
    rows: list[LexborNode] = []
    for part in table.iter():
        if part.tag in {"thead", "tbody", "tfoot"}:
            rows += [row for row in part.iter() if row.tag == "tr"]
        elif part.tag == "tr":
            rows.append(part)
    return rows


def row_cells(row: LexborNode) -> tuple[LexborNode, ...]:
    return tuple([cell for cell in row.iter() if cell.tag in {"td", "th"}])


def header_columns(table: LexborNode) -> dict[str, int]:
    """Return the column index by header, from the first row of headers."""
    for row in table_rows(table):
        cells = row_cells(row)
        if cells and all(cell.tag == "th" for cell in cells):
            return _column_indexes(cells)
    return {}


def body_rows(table: LexborNode) -> Iterator[Row]:
    """Yield the rows of a table that contain data cells."""
    columns = header_columns(table)
    for row in table_rows(table):
        cells = row_cells(row)
        if any(cell.tag == "td" for cell in cells):
            yield Row(row, cells, columns)


def labeled_cells(table: LexborNode) -> dict[str, LexborNode]:
    """Return the cells of a two-column table by label."""
    found: dict[str, LexborNode] = {}
    for row in table_rows(table):
        cells = row_cells(row)
        if len(cells) > 1:
            found.setdefault(compact(cells[0].text()), cells[1])
    return found


def _column_indexes(cells: tuple[LexborNode, ...]) -> dict[str, int]:
    columns: dict[str, int] = {}
    at = 0
    for cell in cells:
        columns.setdefault(compact(cell.text()), at)
        span = cell.attributes.get("colspan") or "1"
        at += int(span) if span.isascii() and span.isdigit() and len(span) < 3 else 1
    return columns


_RACE: Final = re.compile(r"(?:race_id=|/race/(?:result/)?)([0-9]{4}[0-9A-Za-z]{8})(?![0-9A-Za-z])")
_HORSE: Final = re.compile(r"/horse/(?:result/|ped/)?([0-9a-z]{10})(?![0-9a-z])")
_JOCKEY: Final = re.compile(r"/jockey/(?:result/)?(?:recent/)?([0-9a-z]{5})(?![0-9a-z])")
_TRAINER: Final = re.compile(r"/trainer/(?:result/)?(?:recent/)?([0-9a-z]{5})(?![0-9a-z])")


def race_id_in(link: str) -> str | None:
    """Return the race id in a URL; ids of overseas races contain letters."""
    return _first(_RACE, link)


def horse_id_in(link: str) -> str | None:
    return _first(_HORSE, link)


def jockey_id_in(link: str) -> str | None:
    return _first(_JOCKEY, link)


def trainer_id_in(link: str) -> str | None:
    return _first(_TRAINER, link)


def _first(pattern: re.Pattern[str], link: str) -> str | None:
    found = pattern.search(link)
    return found[1] if found else None
