"""Kept here: how each kind of field becomes an attribute value and comes back."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, Literal, get_args, get_origin

from grandstand.storage.tables.declaration.times import TIMES, TimeForm
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.schema import KeyType

Turn = Callable[[Any], Any]
Rename = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Codec:
    """How one kind of value is stored; no function means it is stored as it is.

    `key_type` is what it would be as a key attribute, None when it cannot be one; `text` writes it
    into a key template, None when it cannot stand there.
    """

    encode: Turn | None = None
    decode: Turn | None = None
    key_type: KeyType | None = None
    text: Callable[[Any], str] | None = None
    element: Codec | None = None
    inner: Mapping[str, tuple[str, Codec]] | None = None


def as_text(value: object) -> str:
    """Answer a text as it is; raise DeclarationFault for anything else."""
    if isinstance(value, str):
        return value
    message = f"A key part must be text here, not {type(value).__name__} {value!r}"
    raise DeclarationFault(message)


_PLAIN: Final[dict[object, Codec]] = {
    str: Codec(key_type="S", text=as_text),
    int: Codec(key_type="N"),
    bool: Codec(),
    bytes: Codec(key_type="B"),
    Decimal: Codec(decode=Decimal, key_type="N"),
    date: Codec(encode=date.isoformat, decode=date.fromisoformat, key_type="S", text=str),
    Any: Codec(),
}


def plain(name: str) -> str:
    """Leave a name as it is."""
    return name


def without_none(annotation: object) -> tuple[object, bool]:
    """Split `X | None` into X and whether None was allowed."""
    if get_origin(annotation) in (typing.Union, types.UnionType):
        rest = tuple(a for a in get_args(annotation) if a is not types.NoneType)
        if len(rest) < len(get_args(annotation)):
            only = rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007
            return only, True
    return annotation, False


REQUIRED: Final = object()


def when_absent(field: dataclasses.Field[Any], annotation: object, *, optional: bool) -> object:
    """Answer what a field holds when its attribute is absent, REQUIRED when it must not be."""
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    if optional:
        return None
    return frozenset() if get_origin(annotation) is frozenset else REQUIRED


def codec_for(annotation: object, times: TimeForm, rename: Rename) -> Codec:
    """Find how values of that annotation are stored; raise DeclarationFault when they cannot be."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if annotation is datetime:
        return _moment(times)
    origin = get_origin(annotation)
    if origin is Literal:
        return codec_for(type(get_args(annotation)[0]), times, rename)
    if origin is not None:
        return _container(annotation, origin, times, rename)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enumeration(annotation)
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _record(annotation, times, rename)
    if annotation is float:
        message = "A float is not exact and cannot be stored: declare the field Decimal"
        raise DeclarationFault(message)
    message = (
        f"{annotation!r} cannot be stored: use str, int, Decimal, bool, bytes, datetime, date, an "
        "enumeration, a frozen dataclass, or tuple[...], list[...], dict[str, ...], frozenset[...]"
    )
    raise DeclarationFault(message)


def _moment(times: TimeForm) -> Codec:
    form = TIMES[times]
    if form.numeric:
        return Codec(encode=form.write, decode=form.read, key_type="N")
    return Codec(
        encode=form.write, decode=form.read, key_type="S", text=lambda at: str(form.write(at))
    )


def _enumeration(kind: type[enum.Enum]) -> Codec:
    if all(isinstance(member.value, str) for member in kind):
        return Codec(
            encode=lambda member: member.value,
            decode=kind,
            key_type="S",
            text=lambda member: str(member.value),
        )
    if all(isinstance(member.value, int) for member in kind):
        return Codec(encode=lambda member: member.value, decode=lambda n: kind(int(n)))
    message = f"{kind.__name__} mixes kinds of values: make all its members texts or all numbers"
    raise DeclarationFault(message)


def _container(annotation: object, origin: object, times: TimeForm, rename: Rename) -> Codec:
    arguments = get_args(annotation)
    if origin is dict or origin is Mapping:
        return _mapping(codec_for(arguments[1], times, rename))
    if origin is frozenset:
        return _set(codec_for(arguments[0], times, rename))
    if origin is list:
        return _sequence(codec_for(arguments[0], times, rename), list)
    if origin is tuple and arguments[1:] == (...,):
        return _sequence(codec_for(arguments[0], times, rename), tuple)
    if origin in (typing.Union, types.UnionType):
        return Codec()
    message = f"{annotation!r} cannot be stored: use tuple[X, ...], list, dict[str, X] or frozenset"
    raise DeclarationFault(message)


def _mapping(element: Codec) -> Codec:
    def each(turn: Turn | None) -> Turn | None:
        return turn and (lambda values: {name: turn(value) for name, value in values.items()})

    return Codec(encode=each(element.encode), decode=each(element.decode), element=element)


def _set(element: Codec) -> Codec:
    """Sets cannot be stored empty, so an empty one is an absent attribute."""
    turn_out, turn_in = element.encode, element.decode

    def encode(values: frozenset[Any]) -> frozenset[Any] | None:
        return frozenset(turn_out(v) for v in values) if turn_out else values

    def decode(values: frozenset[Any]) -> frozenset[Any]:
        return frozenset(turn_in(v) for v in values) if turn_in else values

    return Codec(encode=lambda values: encode(values) or None, decode=decode, element=element)


def _sequence(element: Codec, kind: type[list[Any] | tuple[Any, ...]]) -> Codec:
    turn_out, turn_in = element.encode, element.decode

    def encode(values: Any) -> list[Any]:  # noqa: ANN401 - a list or a tuple of anything storable
        return [turn_out(v) for v in values] if turn_out else list(values)

    def decode(values: list[Any]) -> Any:  # noqa: ANN401 - as encode
        return kind(turn_in(v) for v in values) if turn_in else kind(values)

    return Codec(encode=encode, decode=decode, element=element)


def _record(kind: type[Any], times: TimeForm, rename: Rename) -> Codec:
    hints = typing.get_type_hints(kind)
    plan: dict[str, tuple[str, Codec]] = {}
    absent: dict[str, object] = {}
    for field in dataclasses.fields(kind):
        annotation, optional = without_none(hints[field.name])
        name = field.metadata.get("attribute") or rename(field.name)
        plan[field.name] = (
            name,
            codec_for(annotation, field.metadata.get("times") or times, rename),
        )
        value = when_absent(field, annotation, optional=optional)
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
        given = dict(absent)
        for field_name, (attribute, codec) in plan.items():
            value = stored.get(attribute)
            if value is not None:
                given[field_name] = codec.decode(value) if codec.decode else value
        return kind(**given)

    return Codec(encode=encode, decode=_in_order(kind, plan, absent, decode), inner=plan)


def _in_order(
    kind: type[Any], plan: Mapping[str, tuple[str, Codec]], absent: Mapping[str, object], slow: Turn
) -> Turn:
    """Make a decoder that gives a record its fields in order, which is twice as fast as by name.

    Where that cannot be, it is `slow`; and where a field is missing that must not be, `slow` says
    so.
    """
    if any(field.kw_only or not field.init for field in dataclasses.fields(kind)):
        return slow
    steps = tuple(
        (attribute, codec.decode, absent.get(name, REQUIRED))
        for name, (attribute, codec) in plan.items()
    )
    needed = tuple(attribute for attribute, _, default in steps if default is REQUIRED)

    def decode(stored: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance of `kind`
        get = stored.get
        for attribute in needed:
            if get(attribute) is None:
                return slow(stored)
        return kind(
            *[
                default if (value := get(attribute)) is None else turn(value) if turn else value
                for attribute, turn, default in steps
            ]
        )

    return decode
