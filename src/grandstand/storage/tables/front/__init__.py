"""Kept here: DynamoDB's protocol in front of an engine, as a function from request to reply."""

from __future__ import annotations

from grandstand.storage.tables.front.front import MAX_BODY, Front
from grandstand.storage.tables.front.reply import Reply

__all__ = ["MAX_BODY", "Front", "Reply"]
