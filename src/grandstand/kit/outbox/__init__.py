"""Consequences that must survive a crash: written with their cause, carried out afterwards."""

from grandstand.kit.outbox.deliverer import Deliver, Deliverer
from grandstand.kit.outbox.outbox import Outbox
from grandstand.kit.outbox.tables import OUTBOX_TABLES, Consequence

__all__ = ["OUTBOX_TABLES", "Consequence", "Deliver", "Deliverer", "Outbox"]
