"""Very many small requests to one HTTP/2 host, over a few long-lived connections."""

from grandstand.wire.push.client import PushClient, Pushing, Standing
from grandstand.wire.push.values import Answer, Lost, Outcome, Request, SharedHeaders

__all__ = [
    "Answer",
    "Lost",
    "Outcome",
    "PushClient",
    "Pushing",
    "Request",
    "SharedHeaders",
    "Standing",
]
