"""An HTTP/2 client for very many small requests to one host."""

from grandstand.net.http2_push.client import ConnectionStatus, PushClient, PushConfig
from grandstand.net.http2_push.requests import (
    NoResponse,
    PushOutcome,
    PushRequest,
    PushResponse,
    SharedHeaders,
)

__all__ = [
    "ConnectionStatus",
    "NoResponse",
    "PushClient",
    "PushConfig",
    "PushOutcome",
    "PushRequest",
    "PushResponse",
    "SharedHeaders",
]
