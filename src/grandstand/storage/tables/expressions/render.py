"""Rendering expressions as text with placeholders."""

from __future__ import annotations

from collections.abc import Iterable

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.expressions import nodes


class Rendering:
    """The expressions of one request and their placeholders.

    `names` and `values` map placeholders to attribute names and values; a name has one placeholder,
    however often it is used.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}
        self._keys: dict[str, str] = {}

    def condition(self, condition: nodes.Condition) -> str:
        """Return a condition or filter."""
        operand, path = self._operand, self._path
        match condition:
            case nodes.Compare(op, left, right):
                return f"{operand(left)} {op} {operand(right)}"
            case nodes.Between(value, low, high):
                return f"{operand(value)} BETWEEN {operand(low)} AND {operand(high)}"
            case nodes.In(value, options):
                return f"{operand(value)} IN ({', '.join(map(operand, options))})"
            case nodes.Exists(at):
                return f"attribute_exists({path(at)})"
            case nodes.Missing(at):
                return f"attribute_not_exists({path(at)})"
            case nodes.TypeIs(at, code):
                return f"attribute_type({path(at)}, {operand(code)})"
            case nodes.BeginsWith(value, prefix):
                return f"begins_with({operand(value)}, {operand(prefix)})"
            case nodes.Contains(value, part):
                return f"contains({operand(value)}, {operand(part)})"
            case nodes.And():
                return self._chain(condition, nodes.And, " AND ", (nodes.And, nodes.Or))
            case nodes.Or():
                return self._chain(condition, nodes.Or, " OR ", (nodes.Or,))
            case nodes.Not(inner):
                return f"NOT {self._grouped(inner, (nodes.And, nodes.Or))}"

    def update(self, update: nodes.UpdateNode) -> str:
        """Return an update; empty if it has no actions."""
        sections = (
            ("SET", [f"{self._path(to)} = {self._assigned(what)}" for to, what in update.sets]),
            ("REMOVE", [self._path(path) for path in update.removes]),
            ("ADD", [f"{self._path(to)} {self._operand(what)}" for to, what in update.adds]),
            ("DELETE", [f"{self._path(of)} {self._operand(what)}" for of, what in update.deletes]),
        )
        return " ".join(f"{name} {', '.join(actions)}" for name, actions in sections if actions)

    def projection(self, paths: Iterable[nodes.Path]) -> str:
        return ", ".join(map(self._path, paths))

    def key_condition(self, condition: nodes.KeyCondition) -> str:
        parts = [f"{self._name(name)} = {self._value(value)}" for name, value in condition.equals]
        if condition.range is not None:
            parts.append(self._range(condition.range))
        return " AND ".join(parts)

    def _range(self, key_range: nodes.Range) -> str:
        name, low = self._name(key_range.attribute), self._value(key_range.low)
        if key_range.op == "between":
            return f"{name} BETWEEN {low} AND {self._value(key_range.high)}"
        if key_range.op == "begins_with":
            return f"begins_with({name}, {low})"
        return f"{name} {key_range.op} {low}"

    def _name(self, name: str) -> str:
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = f"#n{len(self._keys)}"
            self.names[key] = name
        return key

    def _value(self, value: Value) -> str:
        key = f":v{len(self.values)}"
        self.values[key] = value
        return key

    def _path(self, path: nodes.Path) -> str:
        text = self._name(path.root)
        for step in path.steps[1:]:
            text += f"[{step}]" if isinstance(step, int) else f".{self._name(step)}"
        return text

    def _operand(self, operand: nodes.Operand) -> str:
        if isinstance(operand, nodes.Path):
            return self._path(operand)
        if isinstance(operand, nodes.Literal):
            return self._value(operand.value)
        return f"size({self._operand(operand.of)})"

    def _assigned(self, assigned: nodes.Assigned) -> str:
        match assigned:
            case nodes.IfMissing(path, other):
                return f"if_not_exists({self._path(path)}, {self._assigned(other)})"
            case nodes.Joined(first, second):
                return f"list_append({self._assigned(first)}, {self._assigned(second)})"
            case nodes.Sum(left, right, subtract):
                op = "-" if subtract else "+"
                return f"{self._assigned(left)} {op} {self._assigned(right)}"
            case _:
                return self._operand(assigned)

    def _chain(
        self,
        node: nodes.And | nodes.Or,
        kind: type[nodes.And | nodes.Or],
        joint: str,
        looser: tuple[type, ...],
    ) -> str:
        """Render a left-nested chain without parentheses, as it is parsed."""
        rights: list[nodes.Condition] = []
        first: nodes.Condition = node
        while isinstance(first, kind):
            rights.append(first.right)
            first = first.left
        parts = [self._grouped(first, (nodes.Or,) if kind is nodes.And else ())]
        parts += [self._grouped(right, looser) for right in reversed(rights)]
        return joint.join(parts)

    def _grouped(self, condition: nodes.Condition, looser: tuple[type, ...]) -> str:
        text = self.condition(condition)
        return f"({text})" if isinstance(condition, looser) else text
