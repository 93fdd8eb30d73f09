"""Field declarations, and how each type of field is stored."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

from grandstand.core.errors import InvalidInput
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.schema import KeyType

TimeForm: TypeAlias = Literal["seconds", "milliseconds", "microseconds", "epoch", "epoch_ms"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Converter = Callable[[Any], Any]
NameConverter = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Codec:
    """How a type of value is stored; without functions it is stored as is.

    `key_type` is its type as a key attribute, None if it cannot be one; `text` formats it for a key
    template, None if that is not possible.
    """

    encode: Converter | None = None
    decode: Converter | None = None
    key_type: KeyType | None = None
    text: Callable[[Any], str] | None = None
    element: Codec | None = None
    inner: Mapping[str, tuple[str, Codec]] | None = None


def _utc(time: datetime) -> datetime:
    if time.tzinfo is UTC:
        return time
    if time.tzinfo is None:
        raise InvalidInput(
            f"{time} has no time zone. Use an aware datetime such as datetime.now(UTC)."
        )
    return time.astimezone(UTC)


def format_time(time: datetime, timespec: str = "seconds") -> str:
    """Return a time as it is stored in text: in UTC, such as 2026-02-11T12:00:00Z."""
    return _utc(time).isoformat(timespec=timespec).replace("+00:00", "Z")


def _text_codec(timespec: str) -> Codec:
    write = partial(format_time, timespec=timespec)
    return Codec(encode=write, decode=_from_text, key_type="S", text=write)


def _from_text(text: Any) -> datetime:  # noqa: ANN401 - a str; checking would take a fifth of the time
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is UTC else time.astimezone(UTC)


def _epoch_codec(unit: timedelta) -> Codec:
    return Codec(
        encode=lambda time: (_utc(time) - _EPOCH) // unit,
        decode=lambda number: _EPOCH + unit * int(number),
        key_type="N",
    )


# What is finer than the stored form is truncated, never rounded.
TIMES: Final[dict[TimeForm, Codec]] = {
    "seconds": _text_codec("seconds"),
    "milliseconds": _text_codec("milliseconds"),
    "microseconds": _text_codec("microseconds"),
    "epoch": _epoch_codec(timedelta(seconds=1)),
    "epoch_ms": _epoch_codec(timedelta(milliseconds=1)),
}


def require_text(value: object) -> str:
    """Return a string unchanged. Raises DeclarationFault for anything else."""
    if isinstance(value, str):
        return value
    raise DeclarationFault(
        f"This part of a key must be text, not {type(value).__name__} {value!r}."
    )


_SIMPLE_CODECS: Final[dict[object, Codec]] = {
    str: Codec(key_type="S", text=require_text),
    int: Codec(key_type="N"),
    bool: Codec(),
    bytes: Codec(key_type="B"),
    Decimal: Codec(decode=Decimal, key_type="N"),
    date: Codec(encode=date.isoformat, decode=date.fromisoformat, key_type="S", text=str),
    Any: Codec(),
}


def keep_name(name: str) -> str:
    """Return the name unchanged."""
    return name


def split_optional(annotation: object) -> tuple[object, bool]:
    """Split `X | None` into X and whether None is allowed."""
    if get_origin(annotation) in (typing.Union, types.UnionType):
        others = tuple(a for a in get_args(annotation) if a is not types.NoneType)
        if len(others) < len(get_args(annotation)):
            inner = others[0] if len(others) == 1 else typing.Union[others]  # noqa: UP007
            return inner, True
    return annotation, False


REQUIRED: Final = object()


def default_of(field: dataclasses.Field[Any], annotation: object, *, optional: bool) -> object:
    """Return the value of a field whose attribute is absent, or REQUIRED."""
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    if optional:
        return None
    return frozenset() if get_origin(annotation) is frozenset else REQUIRED


def codec_for(annotation: object, times: TimeForm, rename: NameConverter) -> Codec:
    """Return the codec of an annotation. Raises DeclarationFault if it cannot be stored."""
    if annotation in _SIMPLE_CODECS:
        return _SIMPLE_CODECS[annotation]
    if annotation is datetime:
        return TIMES[times]
    origin = get_origin(annotation)
    if origin is Literal:
        return codec_for(type(get_args(annotation)[0]), times, rename)
    if origin is not None:
        return _container_codec(annotation, origin, times, rename)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enum_codec(annotation)
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _record_codec(annotation, times, rename)
    if annotation is float:
        raise DeclarationFault(
            "A float is not exact and cannot be stored. Declare the field as Decimal."
        )
    raise DeclarationFault(
        f"{annotation!r} cannot be stored. Use str, int, Decimal, bool, bytes, datetime, date, an "
        "enum, a frozen dataclass, tuple[...], list[...], dict[str, ...] or frozenset[...]."
    )


def _enum_codec(kind: type[enum.Enum]) -> Codec:
    if all(isinstance(member.value, str) for member in kind):
        return Codec(
            encode=lambda member: member.value,
            decode=kind,
            key_type="S",
            text=lambda member: str(member.value),
        )
    if all(isinstance(member.value, int) for member in kind):
        return Codec(encode=lambda member: member.value, decode=lambda n: kind(int(n)))
    raise DeclarationFault(
        f"{kind.__name__} mixes types of values. Make all its members strings or all integers."
    )


def _container_codec(
    annotation: object, origin: object, times: TimeForm, rename: NameConverter
) -> Codec:
    arguments = get_args(annotation)
    if origin is dict or origin is Mapping:
        return _dict_codec(codec_for(arguments[1], times, rename))
    if origin is frozenset:
        return _set_codec(codec_for(arguments[0], times, rename))
    if origin is list:
        return _sequence_codec(codec_for(arguments[0], times, rename), list)
    if origin is tuple and arguments[1:] == (...,):
        return _sequence_codec(codec_for(arguments[0], times, rename), tuple)
    if origin in (typing.Union, types.UnionType):
        return Codec()
    raise DeclarationFault(
        f"{annotation!r} cannot be stored. Use tuple[X, ...], list, dict[str, X] or frozenset."
    )


def _dict_codec(element: Codec) -> Codec:
    def convert_values(convert: Converter | None) -> Converter | None:
        return convert and (lambda values: {name: convert(value) for name, value in values.items()})

    return Codec(
        encode=convert_values(element.encode),
        decode=convert_values(element.decode),
        element=element,
    )


def _set_codec(element: Codec) -> Codec:
    """An empty set cannot be stored, so it is an absent attribute."""
    encode_element, decode_element = element.encode, element.decode

    def encode(values: frozenset[Any]) -> frozenset[Any] | None:
        return frozenset(encode_element(v) for v in values) if encode_element else values

    def decode(values: frozenset[Any]) -> frozenset[Any]:
        return frozenset(decode_element(v) for v in values) if decode_element else values

    return Codec(encode=lambda values: encode(values) or None, decode=decode, element=element)


def _sequence_codec(element: Codec, kind: type[list[Any] | tuple[Any, ...]]) -> Codec:
    encode_element, decode_element = element.encode, element.decode

    def encode(values: Any) -> list[Any]:  # noqa: ANN401 - a list or a tuple of anything storable
        return [encode_element(v) for v in values] if encode_element else list(values)

    def decode(values: list[Any]) -> Any:  # noqa: ANN401 - as encode
        return kind(decode_element(v) for v in values) if decode_element else kind(values)

    return Codec(encode=encode, decode=decode, element=element)


def _record_codec(kind: type[Any], times: TimeForm, rename: NameConverter) -> Codec:
    hints = typing.get_type_hints(kind)
    plan: dict[str, tuple[str, Codec]] = {}
    absent: dict[str, object] = {}
    for field in dataclasses.fields(kind):
        annotation, optional = split_optional(hints[field.name])
        name = field.metadata.get("attribute") or rename(field.name)
        plan[field.name] = (
            name,
            codec_for(annotation, field.metadata.get("times") or times, rename),
        )
        value = default_of(field, annotation, optional=optional)
        if value is not REQUIRED:
            absent[field.name] = value

    def encode(record: Any) -> dict[str, Any]:  # noqa: ANN401 - an instance of `kind`
        stored = {}
        for field_name, (attribute, codec) in plan.items():
            value = getattr(record, field_name)
            if value is not None and codec.encode:
                value = codec.encode(value)
            if value is not None:
                stored[attribute] = value
        return stored

    def decode(stored: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance of `kind`
        values = dict(absent)
        for field_name, (attribute, codec) in plan.items():
            value = stored.get(attribute)
            if value is not None:
                values[field_name] = codec.decode(value) if codec.decode else value
        return kind(**values)

    return Codec(encode=encode, decode=_positional_decoder(kind, plan, absent, decode), inner=plan)


def _positional_decoder(
    kind: type[Any],
    plan: Mapping[str, tuple[str, Codec]],
    absent: Mapping[str, object],
    fallback: Converter,
) -> Converter:
    """Return a decoder that passes fields by position, which is twice as fast as by name.

    Where that is not possible it is `fallback`, which also reports missing required fields.
    """
    if any(field.kw_only or not field.init for field in dataclasses.fields(kind)):
        return fallback
    steps = tuple(
        (attribute, codec.decode, absent.get(name, REQUIRED))
        for name, (attribute, codec) in plan.items()
    )
    required = tuple(attribute for attribute, _, default in steps if default is REQUIRED)

    def decode(stored: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance of `kind`
        get = stored.get
        for attribute in required:
            if get(attribute) is None:
                return fallback(stored)
        return kind(
            *[
                default
                if (value := get(attribute)) is None
                else convert(value)
                if convert
                else value
                for attribute, convert, default in steps
            ]
        )

    return decode


def attribute(
    name: str | None = None,
    *,
    times: TimeForm | None = None,
    default: Any = dataclasses.MISSING,  # noqa: ANN401 - stands for a value of the field's type
) -> Any:  # noqa: ANN401 - as above
    """Store a field under another name, or its times in another form."""
    return _field_with({"attribute": name, "times": times}, default)


def version(name: str | None = None) -> Any:  # noqa: ANN401 - stands for an int
    """Count the writes of an item; a put based on an older count fails."""
    return _field_with({"role": "version", "attribute": name}, 0)


def ttl(*, after: timedelta | None = None, of: str | None = None) -> Any:  # noqa: ANN401 - a moment
    """Let the item expire at this time; if unset, `after` the field `of` or after the put.

    Stored in the table's TTL attribute, in epoch seconds.
    """
    return _field_with({"role": "ttl", "after": after, "of": of}, None)


def _field_with(metadata: dict[str, object], default: object) -> object:
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class EntityField:
    """A field of an entity: its attribute, its codec, and its value if absent."""

    name: str
    attribute: str
    codec: Codec
    role: Literal["plain", "version", "ttl"]
    absent: object
    after: timedelta | None = None
    of: str | None = None

    def encoded(self, value: object) -> Any:  # noqa: ANN401 - whatever its codec makes of it
        """Return a value as it is stored; None stays None."""
        encode = self.codec.encode
        return encode(value) if encode and value is not None else value


def compile_field(
    field: dataclasses.Field[Any], annotation: object, *, times: TimeForm, rename: NameConverter
) -> EntityField:
    """Compile a dataclass field. Raises DeclarationFault if it cannot be stored."""
    metadata = field.metadata
    kind, optional = split_optional(annotation)
    role = metadata.get("role", "plain")
    form: TimeForm = "epoch" if role == "ttl" else metadata.get("times") or times
    try:
        codec = codec_for(kind, form, rename)
    except DeclarationFault as error:
        raise DeclarationFault(f"{field.name}: {error}") from error
    if role == "ttl" and codec.key_type != "N":
        raise DeclarationFault(
            f"{field.name}: a TTL is stored in epoch seconds. Declare it as datetime | None."
        )
    if role == "version" and kind is not int:
        raise DeclarationFault(f"{field.name}: a version counts writes. Declare it as int.")
    absent = default_of(field, kind, optional=optional)
    return EntityField(
        name=field.name,
        attribute=metadata.get("attribute") or rename(field.name),
        codec=codec,
        role=role,
        absent=0 if role == "version" and absent is REQUIRED else absent,
        after=metadata.get("after"),
        of=metadata.get("of"),
    )
