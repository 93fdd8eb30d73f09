"""Kept here: every table the kit keeps for the applications."""

from __future__ import annotations

from typing import Final

from grandstand.kit.allowances import ALLOWANCE_TABLES
from grandstand.kit.events import EVENT_TABLES
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.kit.llm.ledger import LLM_TABLES
from grandstand.kit.outbox.tables import OUTBOX_TABLES
from grandstand.kit.who.tables import WHO_TABLES
from grandstand.storage.tables.declaration.table import Table

KIT_TABLES: Final[tuple[Table, ...]] = (
    *WHO_TABLES,
    *JOB_TABLES,
    *OUTBOX_TABLES,
    *EVENT_TABLES,
    *ALLOWANCE_TABLES,
    *LLM_TABLES,
)
