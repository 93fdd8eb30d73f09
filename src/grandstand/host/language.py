"""Kept here: the language model the settings ask for, opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.base.metrics import Metrics
from grandstand.host.settings import LlmSettings
from grandstand.kit.llm.offline import OfflineLlm
from grandstand.kit.llm.port import Llm
from grandstand.storage.tables.store import AsyncStore
from grandstand.wire.web import Credentials, Web

if TYPE_CHECKING:
    from grandstand.kit.llm.provider import Provider


def open_llm(
    settings: LlmSettings, web: Web, *, store: AsyncStore, clock: Clock, metrics: Metrics
) -> Llm:
    """Open the model; raise InvalidInput when the settings leave something out."""
    if settings.provider == "offline":
        return OfflineLlm()
    from grandstand.kit.llm.remote import RemoteLlm, Terms

    if not settings.model:
        raise InvalidInput("Set GRANDSTAND_LLM_MODEL to the model's id, as its provider names it")
    opened = _bedrock(settings) if settings.provider == "bedrock" else _openai(settings, web)
    terms = Terms(
        seconds=settings.seconds,
        daily_cents=settings.daily_cents,
        input_microdollars=settings.input_microdollars,
        output_microdollars=settings.output_microdollars,
    )
    return RemoteLlm(opened, terms, store=store, clock=clock, metrics=metrics)


def _bedrock(settings: LlmSettings) -> Provider:
    from grandstand.kit.llm.bedrock import BedrockProvider
    from grandstand.wire.bedrock import Bedrock

    if not settings.region:
        raise InvalidInput("Set GRANDSTAND_LLM_REGION to the region Bedrock is used in")
    client = Bedrock.open(
        region=settings.region, endpoint=settings.endpoint or None, seconds=settings.seconds
    )
    return BedrockProvider(settings.model, client)


def _openai(settings: LlmSettings, web: Web) -> Provider:
    from grandstand.kit.llm.openai import OpenAiProvider

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
