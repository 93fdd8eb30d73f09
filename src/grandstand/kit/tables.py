"""All tables of the kit."""

from __future__ import annotations

from typing import Final

from grandstand.kit.auth.tables import AUTH_TABLES
from grandstand.kit.events import EVENT_TABLES
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.kit.llm.client import LLM_TABLES
from grandstand.kit.outbox import OUTBOX_TABLES
from grandstand.kit.shared_limits import LIMIT_TABLES
from grandstand.storage.tables.declaration.table import Table

KIT_TABLES: Final[tuple[Table, ...]] = (
    *AUTH_TABLES,
    *JOB_TABLES,
    *OUTBOX_TABLES,
    *EVENT_TABLES,
    *LIMIT_TABLES,
    *LLM_TABLES,
)
