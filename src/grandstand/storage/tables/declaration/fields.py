"""Kept here: what an entity says about its fields, beyond their types."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from grandstand.storage.tables.declaration.codecs import (
    REQUIRED,
    Codec,
    Rename,
    codec_for,
    when_absent,
    without_none,
)
from grandstand.storage.tables.declaration.times import TimeForm
from grandstand.storage.tables.errors import DeclarationFault


def attribute(
    name: str | None = None,
    *,
    times: TimeForm | None = None,
    default: Any = dataclasses.MISSING,  # noqa: ANN401 - stands for a value of the field's type
) -> Any:  # noqa: ANN401 - as above
    """Store a field under another name, or its moments in another form."""
    return _declared({"attribute": name, "times": times}, default)


def version(name: str | None = None) -> Any:  # noqa: ANN401 - stands for an int
    """Count the writes of an item; a put that was made from an older count is refused."""
    return _declared({"role": "version", "attribute": name}, 0)


def ttl(*, after: timedelta | None = None, of: str | None = None) -> Any:  # noqa: ANN401 - a moment
    """Let the item expire at this moment; unset, that long after the field `of`, or after the put.

    Stored in the table's TTL attribute, in epoch seconds.
    """
    return _declared({"role": "ttl", "after": after, "of": of}, None)


def _declared(metadata: dict[str, object], default: object) -> object:
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class EntityField:
    """One field of an entity: its attribute, how it is stored, and what its absence means."""

    name: str
    attribute: str
    codec: Codec
    role: Literal["plain", "version", "ttl"]
    absent: object
    after: timedelta | None = None
    of: str | None = None

    def encoded(self, value: object) -> Any:  # noqa: ANN401 - whatever its codec makes of it
        """Answer a value as it is stored; None stays None."""
        encode = self.codec.encode
        return encode(value) if encode and value is not None else value


def read_field(
    field: dataclasses.Field[Any], annotation: object, *, times: TimeForm, rename: Rename
) -> EntityField:
    """Turn a dataclass field into a stored one; raise DeclarationFault when it cannot be stored."""
    told = field.metadata
    kind, optional = without_none(annotation)
    role = told.get("role", "plain")
    form: TimeForm = "epoch" if role == "ttl" else told.get("times") or times
    try:
        codec = codec_for(kind, form, rename)
    except DeclarationFault as fault:
        message = f"{field.name}: {fault}"
        raise DeclarationFault(message) from fault
    if role == "ttl" and codec.key_type != "N":
        message = (
            f"{field.name}: a TTL is a moment stored in epoch seconds: declare it datetime | None"
        )
        raise DeclarationFault(message)
    if role == "version" and kind is not int:
        message = f"{field.name}: a version counts writes: declare it int"
        raise DeclarationFault(message)
    absent = when_absent(field, kind, optional=optional)
    return EntityField(
        name=field.name,
        attribute=told.get("attribute") or rename(field.name),
        codec=codec,
        role=role,
        absent=0 if role == "version" and absent is REQUIRED else absent,
        after=told.get("after"),
        of=told.get("of"),
    )
