"""Sums written out in prose, such as `3 / 600 = 0.5%` or `9.6 / 109.1 ≈ 8.8%`, checked."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

_NUMBER = r"\d[\d,]*(?:\.\d+)?%?"
_TOKEN = re.compile(rf"{_NUMBER}|[()×/+\-]")
_SUM = re.compile(
    rf"(?<![\w.,])(\(?{_NUMBER}(?:\)? [×/+\-] \(?{_NUMBER}\)?)+) ([=≈]) (-?{_NUMBER})"
)
_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
}


@dataclass(frozen=True, slots=True)
class Sum:
    """One sum as it was written, with the result it claims."""

    left: str
    exact: bool
    right: str

    @property
    def holds(self) -> bool:
        """Whether the result is right: to the last digit given after `≈`, wholly after `=`."""
        difference = abs(_worked_out(self.left) - _value(self.right))
        return difference == 0 if self.exact else difference <= _last_digit(self.right) / 2


def sums_in(text: str) -> Iterator[Sum]:
    """Find every sum in a text."""
    for left, sign, right in _SUM.findall(" ".join(text.split())):
        yield Sum(left, sign == "=", right)


def _value(number: str) -> Fraction:
    plain = Fraction(number.rstrip("%").replace(",", ""))
    return plain / 100 if number.endswith("%") else plain


def _last_digit(number: str) -> Fraction:
    places = len(number.rstrip("%").partition(".")[2])
    return Fraction(1, 10 ** (places + 2 * number.endswith("%")))


def _worked_out(left: str) -> Fraction:
    numbers: list[Fraction] = []

    def named(token: str) -> str:
        if not token[0].isdigit():
            return token.replace("×", "*")
        numbers.append(_value(token))
        return str(len(numbers) - 1)

    source = " ".join(named(token) for token in _TOKEN.findall(left))
    return _walked(ast.parse(source, mode="eval").body, numbers)


def _walked(node: ast.expr, numbers: list[Fraction]) -> Fraction:
    if isinstance(node, ast.BinOp):
        work = _OPERATIONS[type(node.op)]
        return work(_walked(node.left, numbers), _walked(node.right, numbers))
    return numbers[int(ast.literal_eval(node))]
