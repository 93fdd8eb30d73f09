"""Kept here: key templates, such as `GAME#{game_id}`, and how they make and recognise keys."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grandstand.storage.tables.declaration.fields import EntityField
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.schema import KeyType
from grandstand.storage.tables.values import Item, Value

Lookup = Callable[[str], object]

HIGHEST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Part:
    """One `{field}` of a template and the literal text after it.

    A value may not hold the character that ends it, or two different values could make one key.
    """

    name: str
    write: Callable[[Any], str]
    literal: str

    def text(self, value: object, template: str) -> str:
        """Write the value; raise DeclarationFault when it would blur the key's parts."""
        text = self.write(value)
        if self.literal and self.literal[0] in text:
            message = (
                f"{self.name}={text!r} holds {self.literal[0]!r}, which separates the parts of "
                f"{template}: choose another value or put {{{self.name}}} last"
            )
            raise DeclarationFault(message)
        if not text:
            message = f"{self.name} is empty and cannot be part of the key {template}"
            raise DeclarationFault(message)
        return text


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template: literal text before the first part, then the parts."""

    source: str
    start: str
    parts: tuple[Part, ...]
    pattern: re.Pattern[str] = field(repr=False)
    steps: tuple[tuple[str, Callable[[Any], str], str, str], ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The fields it is made of, in order."""
        return tuple(part.name for part in self.parts)

    def fill(self, lookup: Lookup) -> str | None:
        """Make the key; None when a field has no value."""
        text = self.start
        for name, write, stop, literal in self.steps:
            value = lookup(name)
            if value is None:
                return None
            part = write(value)
            if not part or (stop and stop in part):
                self.explain(name, value)
            text += part + literal
        return text

    def explain(self, name: str, value: object) -> None:
        """Say what is wrong with a value; raise DeclarationFault."""
        for part in self.parts:
            if part.name == name:
                part.text(value, self.source)

    def head(self, given: Mapping[str, object]) -> tuple[str, int]:
        """Make as much of the key as the given fields allow; answer it and how many were used.

        Raises DeclarationFault when a later field is given without an earlier one.
        """
        text, used = self.start, 0
        for part in self.parts:
            if part.name not in given:
                break
            text += part.text(given[part.name], self.source) + part.literal
            used += 1
        stray = [name for name in self.names[used:] if name in given]
        if stray:
            message = (
                f"{self.source} is read from the left: {self.names[used]} is missing before "
                f"{', '.join(stray)}; give it too, or filter on {stray[0]} with where()"
            )
            raise DeclarationFault(message)
        return text, used


def compile_template(source: str, writer: Callable[[str, str], Callable[[Any], str]]) -> Template:
    """Read a template; `writer` answers how a field is written, given its name and format."""
    pieces = list(string.Formatter().parse(source))
    if not pieces:
        message = "A key template is empty: write text, fields in braces, or both"
        raise DeclarationFault(message)
    start = pieces[0][0]
    fields = [(name, spec or "") for _, name, spec, _ in pieces if name is not None]
    after = [literal for literal, _, _, _ in pieces[1:]] + [""]
    if any(not name or not name.isidentifier() for name, _ in fields):
        message = f"{source}: name a field between each pair of braces, as in GAME#{{game_id}}"
        raise DeclarationFault(message)
    if any(not literal for literal in after[: len(fields) - 1]):
        message = f"{source}: put text such as # between two fields, or their values run together"
        raise DeclarationFault(message)
    parts = tuple(
        Part(name, writer(name, spec), literal)
        for (name, spec), literal in zip(fields, after, strict=False)
    )
    pattern = re.compile(_recognise(start, parts), re.DOTALL)
    steps = tuple((part.name, part.write, part.literal[:1], part.literal) for part in parts)
    return Template(source, start, parts, pattern, steps)


def _recognise(start: str, parts: Iterable[Part]) -> str:
    pattern = re.escape(start)
    for part in parts:
        stop = f"[^{re.escape(part.literal[0])}]+" if part.literal else ".+"
        pattern += stop + re.escape(part.literal)
    return pattern


@dataclass(frozen=True, slots=True)
class Side:
    """One attribute of a key: a template's text, or, when `direct`, the field of that name."""

    attribute: str
    template: Template
    direct: EntityField | None
    key_type: KeyType

    # The field of a template that ends with it and has no other: any text of it will do.
    last: str | None = None

    def value(self, lookup: Lookup) -> Value:
        """Make the attribute's value from an entity's fields; None when one has no value."""
        if self.last is not None:
            text = lookup(self.last)
            if type(text) is str and text:
                return self.template.start + text
        if self.direct is None:
            return self.template.fill(lookup)
        value = lookup(self.direct.name)
        return None if value is None else self.encode(value)

    def encode(self, value: object) -> Any:  # noqa: ANN401 - a key's str, number or bytes
        """Encode one given value of a direct side."""
        assert self.direct is not None  # noqa: S101 - callers ask direct sides only
        encode = self.direct.codec.encode
        return encode(value) if encode else value

    def owns(self, item: Item) -> bool:
        """Tell whether the item's attribute could have been made by this side."""
        value = item.get(self.attribute)
        if isinstance(value, str):
            return self.direct is not None or self.template.pattern.fullmatch(value) is not None
        return value is not None


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A key of an entity, for its table or one index, ready to make and to query."""

    name: str
    index: str | None
    partition: Side
    sort: Side | None
    when: str | None
    feeds: frozenset[str]

    @property
    def sides(self) -> tuple[Side, ...]:
        """Partition first, then sort if there is one."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    @property
    def names(self) -> frozenset[str]:
        """The fields and properties its templates and its `when` speak of."""
        spoken = frozenset(name for side in self.sides for name in side.template.names)
        return spoken if self.when is None else spoken | {self.when}

    def values(self, lookup: Lookup) -> dict[str, Value] | None:
        """Make the key's attributes from an entity's fields; None when it is not in this key."""
        if self.when is not None and not lookup(self.when):
            return None
        made = {side.attribute: side.value(lookup) for side in self.sides}
        return None if None in made.values() else made
