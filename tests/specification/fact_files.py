"""How a file of facts becomes frozen values: strict, typed, numbers exact."""

import dataclasses
import json
import types
from decimal import Decimal
from pathlib import Path
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")


class FactsMalformed(ValueError):
    """A file of facts does not have the shape its values promise."""


def read(kind: type[Kind], path: Path) -> Kind:
    """The file's facts as `kind`; raises FactsMalformed and names the place that is wrong."""
    data = json.loads(
        path.read_text(encoding="utf-8"),
        parse_int=Decimal,
        parse_float=Decimal,
        parse_constant=_refuse_constant,
        object_pairs_hook=_unique,
    )
    return build(kind, data, where=path.name)


def build(kind: type[Kind], data: object, *, where: str) -> Kind:
    """The parsed JSON as `kind`; raises FactsMalformed and names the place that is wrong."""
    value = _build(kind, data, where)
    if not isinstance(value, kind):
        raise FactsMalformed(f"{where}: expected {kind.__name__}")
    return value


def _build(hint: object, data: object, where: str) -> object:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _record(hint, data, where)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (each for each in get_args(hint) if each is not types.NoneType)
        return None if data is None else _build(inner, data, where)
    if origin is tuple:
        return _row(get_args(hint)[0], data, where)
    expected = origin or hint
    if expected is int and isinstance(data, Decimal) and data == data.to_integral_value():
        return int(data)
    if not isinstance(expected, type) or type(data) is not expected:
        raise FactsMalformed(f"{where}: expected {hint}, found {data!r}")
    return data


def _record(kind: type, data: object, where: str) -> object:
    if not isinstance(data, dict):
        raise FactsMalformed(f"{where}: expected the fields of {kind.__name__}, found {data!r}")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    required = {
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    if unknown := data.keys() - fields.keys():
        raise FactsMalformed(f"{where}: {kind.__name__} has no {', '.join(sorted(unknown))}")
    if missing := required - data.keys():
        raise FactsMalformed(f"{where}: {kind.__name__} needs {', '.join(sorted(missing))}")
    hints = get_type_hints(kind)
    return kind(
        **{name: _build(hints[name], value, f"{where}.{name}") for name, value in data.items()}
    )


def _row(hint: object, data: object, where: str) -> tuple[object, ...]:
    if not isinstance(data, list):
        raise FactsMalformed(f"{where}: expected a list, found {data!r}")
    return tuple(_build(hint, value, f"{where}[{place}]") for place, value in enumerate(data))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise FactsMalformed(f"named twice in one object: {', '.join(twice)}")
    return fields


def _refuse_constant(text: str) -> object:
    raise FactsMalformed(f"{text} is not a number")
