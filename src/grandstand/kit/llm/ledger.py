"""Kept here: what models have cost on each day, and the answers they gave, in tables."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final, Self

from grandstand.storage.tables import Entity, Get, Table, Update, key, ttl

spending = Table(
    "grandstand-llm-spending",
    partition="day",
    purpose="What language models have cost, a day at a time.",
)
answers = Table(
    "grandstand-llm-answers",
    partition="digest",
    ttl="ttl",
    purpose="Answers of language models by the digest of what was asked, to be used again.",
)

LLM_TABLES: Final = (spending, answers)


class Spending(Entity, table=spending):
    """The sum of one day, in UTC."""

    day: date
    cost_microdollars: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    asked: int = 0

    row = key("{day}")

    @classmethod
    def of(cls, day: date) -> Get[Self]:
        """What was spent on a day."""
        return cls.get(day=day).consistent()

    @classmethod
    def add_to(cls, day: date, cost: int, input_tokens: int, output_tokens: int) -> Update[Self]:
        """Count one answer."""
        return (
            cls.update(day=day)
            .upsert()
            .add(
                cost_microdollars=cost,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                asked=1,
            )
        )


class KeptAnswer(Entity, table=answers):
    """One answer as JSON, with who gave it and what it took, kept for ninety days."""

    digest: str
    purpose: str
    model_id: str
    answer: str
    input_tokens: int
    output_tokens: int
    cost_microdollars: int
    answered_at: datetime
    gone_at: datetime | None = ttl(after=timedelta(days=90), of="answered_at")

    row = key("{digest}")

    @classmethod
    def to(cls, digest: str) -> Get[Self]:
        """The answer kept for a question."""
        return cls.get(digest=digest)
