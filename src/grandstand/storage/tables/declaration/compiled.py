"""Compiled entities: key templates, and conversion between entities and items."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from grandstand.storage.tables.attribute_values import Item, Key, Value
from grandstand.storage.tables.declaration.fields import REQUIRED, EntityField
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.errors import DeclarationFault, StoredItemInvalid
from grandstand.storage.tables.schema import KeyType

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity

Lookup = Callable[[str], object]

MAX_CHARACTER: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class TemplateField:
    """A `{field}` of a template and the literal text after it.

    A value must not contain the character that follows it, or two values could form one key.
    """

    name: str
    write: Callable[[Any], str]
    literal: str

    def text(self, value: object, template: str) -> str:
        """Return the value as text. Raises DeclarationFault if it would make the key ambiguous."""
        text = self.write(value)
        if self.literal and self.literal[0] in text:
            raise DeclarationFault(
                f"{self.name}={text!r} contains {self.literal[0]!r}, which separates the fields of "
                f"{template}. Use another value, or put {{{self.name}}} last."
            )
        if not text:
            raise DeclarationFault(
                f"{self.name} is empty and cannot be part of the key {template}."
            )
        return text


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled key template: literal text, then the fields."""

    source: str
    start: str
    fields: tuple[TemplateField, ...]
    pattern: re.Pattern[str] = field(repr=False)
    steps: tuple[tuple[str, Callable[[Any], str], str, str], ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its fields, in order."""
        return tuple(part.name for part in self.fields)

    def fill(self, lookup: Lookup) -> str | None:
        """Return the key, or None if a field has no value."""
        text = self.start
        for name, write, stop, literal in self.steps:
            value = lookup(name)
            if value is None:
                return None
            piece = write(value)
            if not piece or (stop and stop in piece):
                for field in self.fields:
                    if field.name == name:
                        field.text(value, self.source)
            text += piece + literal
        return text

    def head(self, values: Mapping[str, object]) -> tuple[str, int]:
        """Return the start of the key that the values determine, and how many fields it uses.

        Raises DeclarationFault if a field is given without the one before it.
        """
        text, used = self.start, 0
        for part in self.fields:
            if part.name not in values:
                break
            text += part.text(values[part.name], self.source) + part.literal
            used += 1
        skipped = [name for name in self.names[used:] if name in values]
        if skipped:
            raise DeclarationFault(
                f"{self.source} is filled from the left: {self.names[used]} is missing before "
                f"{', '.join(skipped)}. Give it too, or filter on {skipped[0]} with where()."
            )
        return text, used


def compile_template(source: str, writer: Callable[[str, str], Callable[[Any], str]]) -> Template:
    """Compile a template; `writer` returns the formatter of a field, given its name and format."""
    pieces = list(string.Formatter().parse(source))
    if not pieces:
        raise DeclarationFault("A key template is empty. Write text, fields in braces, or both.")
    start = pieces[0][0]
    specs = [(name, spec or "") for _, name, spec, _ in pieces if name is not None]
    after = [literal for literal, _, _, _ in pieces[1:]] + [""]
    if any(not name or not name.isidentifier() for name, _ in specs):
        raise DeclarationFault(
            f"{source}: name a field between each pair of braces, as in GAME#{{game_id}}."
        )
    if any(not literal for literal in after[: len(specs) - 1]):
        raise DeclarationFault(
            f"{source}: put text such as # between two fields, to keep their values apart."
        )
    fields = tuple(
        TemplateField(name, writer(name, spec), literal)
        for (name, spec), literal in zip(specs, after, strict=False)
    )
    pattern = re.escape(start)
    for part in fields:
        stop = f"[^{re.escape(part.literal[0])}]+" if part.literal else ".+"
        pattern += stop + re.escape(part.literal)
    steps = tuple((part.name, part.write, part.literal[:1], part.literal) for part in fields)
    return Template(source, start, fields, re.compile(pattern, re.DOTALL), steps)


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One attribute of a key: the text of a template or, if `direct`, a field of the entity."""

    attribute: str
    template: Template
    direct: EntityField | None
    key_type: KeyType

    # The only field of a template that ends with it: every text is valid.
    only_field: str | None = None

    def value(self, lookup: Lookup) -> Value:
        """Return the value of the attribute, or None if a field has no value."""
        if self.only_field is not None:
            text = lookup(self.only_field)
            if type(text) is str and text:
                return self.template.start + text
        if self.direct is None:
            return self.template.fill(lookup)
        value = lookup(self.direct.name)
        return None if value is None else self.encode(value)

    def encode(self, value: object) -> Any:  # noqa: ANN401 - a key's str, number or bytes
        """Encode a value of a direct part."""
        assert self.direct is not None  # noqa: S101 - only called for direct parts
        encode = self.direct.codec.encode
        return encode(value) if encode else value

    def owns(self, item: Item) -> bool:
        """Return whether the attribute of an item could come from this part."""
        value = item.get(self.attribute)
        if isinstance(value, str):
            return self.direct is not None or self.template.pattern.fullmatch(value) is not None
        return value is not None


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A compiled key of an entity, for its table or an index."""

    name: str
    index: str | None
    partition: KeyPart
    sort: KeyPart | None
    when: str | None
    source_fields: frozenset[str]

    @property
    def parts(self) -> tuple[KeyPart, ...]:
        """Partition first, then sort if there is one."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    @property
    def names(self) -> frozenset[str]:
        """The fields and properties that its templates and `when` refer to."""
        names = frozenset(name for part in self.parts for name in part.template.names)
        return names if self.when is None else names | {self.when}

    def values(self, lookup: Lookup) -> dict[str, Value] | None:
        """Return the key's attributes, or None if the entity is not in this index."""
        if self.when is not None and not lookup(self.when):
            return None
        key = {part.attribute: part.value(lookup) for part in self.parts}
        return None if None in key.values() else key


E = TypeVar("E", bound="Entity")

SCHEMA_VERSION = "schemaVersion"


@dataclass(frozen=True, eq=False)
class EntityPlan(Generic[E]):
    """Everything the store needs to know about an entity.

    The fields from `primary_names` on are derived from the others, so that encoding and decoding
    need no lookups.
    """

    entity: type[E]
    table: Table
    fields: Mapping[str, EntityField]
    primary: KeyPlan
    indexes: tuple[KeyPlan, ...]
    version: EntityField | None
    ttl: EntityField | None
    schema_version: str | None
    primary_names: tuple[str, ...]
    has_computed_keys: bool
    encoders: tuple[tuple[str, str, Callable[[Any], Any] | None], ...]
    decoders: tuple[tuple[str, str, Callable[[Any], Any] | None, object], ...]
    names_match: bool
    has_post_init: bool
    field_count: int
    primary_parts: tuple[KeyPart, ...]
    generated: tuple[str, ...]
    conversions: tuple[tuple[str, Callable[[Any], Any]], ...]
    defaults: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        return self.entity.__name__

    def encode(self, entity: E) -> Item:
        """Return the item to store, including its keys."""
        fields = entity.__dict__
        lookup: Lookup = entity.__getattribute__ if self.has_computed_keys else fields.__getitem__
        item: Item = {}
        for part in self.primary_parts:
            value = part.value(lookup)
            if value is None:
                raise DeclarationFault(
                    f"{self.name} has no value for its key {part.template.source}."
                )
            item[part.attribute] = value
        for name, attribute, convert in self.encoders:
            value = fields[name]
            if value is not None:
                if convert is not None:
                    value = convert(value)
                    if value is None:
                        continue
                item[attribute] = value
        for plan in self.indexes:
            key = plan.values(lookup)
            if key is not None:
                item.update(key)
        if self.schema_version is not None:
            item[SCHEMA_VERSION] = self.schema_version
        return item

    def decode(self, item: Item) -> E:
        """Return the entity of a stored item, upgraded to the current schema version.

        Raises StoredItemInvalid if a required attribute is missing.
        """
        if self.schema_version is not None and item.get(SCHEMA_VERSION) != self.schema_version:
            item = self.entity.upgrade(dict(item))
        fields = self._decode_fast(item)
        if fields is None:
            fields = self._decode_each(item)
        if self.has_post_init:
            return self.entity(**fields)
        entity = object.__new__(self.entity)
        object.__setattr__(entity, "__dict__", fields)
        return entity

    def _decode_fast(self, item: Item) -> dict[str, Any] | None:
        """Copy the fields; return None if the item is not just its fields and keys."""
        if not self.names_match:
            return None
        fields: dict[str, Any] = item.copy()
        drop = fields.pop
        for attribute in self.generated:
            drop(attribute, None)
        for name, convert in self.conversions:
            value = fields.get(name)
            if value is not None:
                fields[name] = convert(value)
        if None in fields.values():
            return None
        for name, default in self.defaults:
            if name not in fields:
                fields[name] = default
        return fields if len(fields) == self.field_count else None

    def _decode_each(self, item: Item) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for name, attribute, convert, default in self.decoders:
            value = item.get(attribute)
            if value is not None:
                fields[name] = value if convert is None else convert(value)
            elif default is not REQUIRED:
                fields[name] = default if not isinstance(default, list | dict) else default.copy()
            else:
                raise StoredItemInvalid(
                    f"A stored {self.name} has no {attribute}. If older items lack it, set it in "
                    f"{self.name}.upgrade and declare a new schema_version."
                )
        return fields

    def key(self, values: Mapping[str, object]) -> Key:
        """Return the table key. Raises DeclarationFault if the values do not form it."""
        key: Key = {}
        for part in self.primary_parts:
            value = part.value(values.get)
            if value is None:
                missing = [name for name in part.template.names if values.get(name) is None]
                raise DeclarationFault(
                    f"The key of {self.name} is {part.template.source}: give {', '.join(missing)}."
                )
            key[part.attribute] = value
        if len(values) > len(self.primary_names):
            unknown = [name for name in values if name not in self.primary_names]
            raise DeclarationFault(f"{', '.join(unknown)} is not part of the key of {self.name}.")
        return key

    def matches(self, item: Item, now: float | None) -> bool:
        """Return whether an item is of this entity and, if a time is given, not expired."""
        if now is not None and self.table.ttl is not None and is_expired(self.table, item, now):
            return False
        if len(self.table.entities) == 1:
            return True
        return all(part.owns(item) for part in self.primary.parts)

    def expiry(self, lookup: Lookup, now: datetime) -> datetime | None:
        """Return when an item with these fields expires, or None."""
        field = self.ttl
        if field is None:
            return None
        expires_at = lookup(field.name)
        if expires_at is not None or field.after is None:
            return cast("datetime | None", expires_at)
        start = now if field.of is None else cast("datetime | None", lookup(field.of))
        return None if start is None else start + field.after


def is_expired(table: Table, item: Item, now: float) -> bool:
    """Return whether the item's expiry has passed at `now`, in epoch seconds."""
    expires = item.get(table.ttl) if table.ttl is not None else None
    return type(expires) is int and expires <= now
