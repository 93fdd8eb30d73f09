"""Kept here: what a site asks robots to leave alone (RFC 9309), and a gate that keeps to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError
from grandstand.wire.errors import RobotsForbid
from grandstand.wire.source import Source

_MOST_LETTERS: Final = 512_000
_GONE: Final = range(400, 500)
_DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Rule:
    """A beginning of paths, with `*` for anything and `$` for the end, and whether it is free."""

    pattern: str
    free: bool

    def meets(self, path: str) -> bool:
        """Tell whether the rule speaks of a path."""
        first, *parts = self.pattern.removesuffix("$").split("*")
        if not path.startswith(first):
            return False
        last = parts.pop() if parts and self.pattern.endswith("$") else None
        at = len(first)
        for part in parts:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        if last is not None:
            return len(path) - len(last) >= at and path.endswith(last)
        return not self.pattern.endswith("$") or at == len(path)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a site asks of one robot; `delay_seconds` is what it wants between two requests."""

    rules: tuple[Rule, ...] = ()
    delay_seconds: float | None = None

    def allow(self, path: str) -> bool:
        """Tell whether a path may be read: the longest rule that meets it decides."""
        met = [rule for rule in self.rules if rule.meets(path)]
        return max(met, key=lambda rule: (len(rule.pattern), rule.free)).free if met else True


def parse_robots(text: str, agent: str) -> Rules:
    """Answer the rules for a robot: those of its own groups, or those for all."""
    groups: dict[str, list[tuple[str, str]]] = {}
    named: list[str] = []
    naming = False
    for line in text[:_MOST_LETTERS].splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        field, value = field.strip().lower(), value.strip()
        if field == "user-agent":
            named = [*named, value.lower()] if naming else [value.lower()]
            naming = True
            for name in named:
                groups.setdefault(name, [])
        elif colon and field in {"allow", "disallow", "crawl-delay"}:
            naming = False
            for name in named:
                groups[name].append((field, value))
    ours = agent.partition("/")[0].lower()
    return _rules(groups.get(ours, groups.get("*", [])))


def _rules(lines: list[tuple[str, str]]) -> Rules:
    rules = [Rule(value, field == "allow") for field, value in lines if _is_rule(field, value)]
    delays = [float(value) for field, value in lines if field == "crawl-delay" and _number(value)]
    return Rules(tuple(rules), max(delays, default=None))


def _is_rule(field: str, value: str) -> bool:
    return field in {"allow", "disallow"} and value.startswith(("/", "*"))


def _number(value: str) -> bool:
    return re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", value) is not None


class Robots:
    """Asks a site once a day what it wants left alone, and keeps to it.

    A site without the file allows everything; one that does not answer, and whose wishes are not
    known from before, allows nothing.
    """

    def __init__(self, source: Source, *, agent: str, clock: Clock) -> None:
        self._source = source
        self._agent = agent
        self._clock = clock
        self._rules: Rules | None = None
        self._read_at = 0.0

    async def rules(self) -> Rules:
        """Answer the site's wishes; raise RobotsForbid when they cannot be learnt."""
        if self._rules is None or self._clock.monotonic() - self._read_at > _DAY_SECONDS:
            try:
                self._rules = await self._fetch()
            except GrandstandError as error:
                if self._rules is None:
                    message = f"What {self._source.declared.name} allows cannot be learnt: {error}"
                    raise RobotsForbid(message, source=self._source.declared.name) from error
            self._read_at = self._clock.monotonic()
        return self._rules

    async def check(self, path: str) -> None:
        """Raise RobotsForbid when the site does not want a path, query included, to be read."""
        if not (await self.rules()).allow(path):
            message = f"{self._source.declared.name} asks robots not to read {path}"
            raise RobotsForbid(message, source=self._source.declared.name)

    async def _fetch(self) -> Rules:
        place = str(self._source.declared.base_url.copy_with(path="/robots.txt"))
        answer = await self._source.get(place, accept=_GONE)
        if answer.status in _GONE:
            return Rules()
        return parse_robots(answer.body.decode("utf-8-sig", "replace"), self._agent)
