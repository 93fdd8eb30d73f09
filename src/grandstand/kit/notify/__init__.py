"""Alerts that leave the house, through the outbox: to webhooks and by mail."""

from grandstand.kit.notify.channels import Channel, Mail, Webhook, read_channels
from grandstand.kit.notify.notifier import Message, Notifier

__all__ = ["Channel", "Mail", "Message", "Notifier", "Webhook", "read_channels"]
