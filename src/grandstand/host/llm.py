"""Opening the configured language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput
from grandstand.core.metrics import Metrics
from grandstand.host.settings import LlmSettings
from grandstand.kit.llm.interface import Llm, OfflineLlm
from grandstand.net.client import Credentials, SourceRegistry
from grandstand.storage.tables.store import AsyncStore

if TYPE_CHECKING:
    from grandstand.kit.llm.providers import Provider


def open_llm(
    settings: LlmSettings, web: SourceRegistry, *, store: AsyncStore, clock: Clock, metrics: Metrics
) -> Llm:
    """Open the language model. Raises InvalidInput if a setting is missing."""
    if settings.provider == "offline":
        return OfflineLlm()
    from grandstand.kit.llm.client import LlmLimits, RemoteLlm

    if not settings.model:
        raise InvalidInput("Set GRANDSTAND_LLM_MODEL to the provider's model id")
    opened = _bedrock(settings) if settings.provider == "bedrock" else _openai(settings, web)
    terms = LlmLimits(
        seconds=settings.seconds,
        daily_cents=settings.daily_cents,
        input_microdollars=settings.input_microdollars,
        output_microdollars=settings.output_microdollars,
    )
    return RemoteLlm(opened, terms, store=store, clock=clock, metrics=metrics)


def _bedrock(settings: LlmSettings) -> Provider:
    from grandstand.kit.llm.providers import BedrockProvider
    from grandstand.net.bedrock import Bedrock

    if not settings.region:
        raise InvalidInput("Set GRANDSTAND_LLM_REGION to Bedrock's region")
    client = Bedrock.open(
        region=settings.region, endpoint=settings.endpoint or None, seconds=settings.seconds
    )
    return BedrockProvider(settings.model, client)


def _openai(settings: LlmSettings, web: SourceRegistry) -> Provider:
    from grandstand.kit.llm.providers import OpenAiProvider

    if not settings.endpoint:
        raise InvalidInput("Set GRANDSTAND_LLM_ENDPOINT to the model's URL, up to /v1")
    key = settings.key.get_secret_value() if settings.key else None
    proof = Credentials(headers={"authorization": f"Bearer {key}"} if key else {})
    source = web.source(
        "llm",
        base_url=settings.endpoint,
        timeout_seconds=settings.seconds,
        credentials=proof,
    )

    async def post(path: str, body: bytes) -> bytes:
        headers = {"content-type": "application/json"}
        return (await source.post(path, body=body, headers=headers)).body

    return OpenAiProvider(settings.model, post)
