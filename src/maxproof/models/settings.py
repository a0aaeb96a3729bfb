"""Endpoints and roles as the user configures them: `[endpoints.NAME]`, `[roles.NAME]`, `[budget]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

ROLES = ("generator", "judge", "normaliser", "refiner", "ranker", "summariser", "annotator")


class Prices(BaseModel):
    """Money per million tokens, in any one currency."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(0.0, ge=0, description="prompt tokens")
    output: float = Field(0.0, ge=0, description="completion tokens, thinking included")
    cached_input: float | None = Field(None, ge=0, description="cached prompt tokens; default: as input")


class EndpointSettings(BaseModel):
    """One OpenAI-compatible server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = Field(description="up to and including /v1; or an embedded model: local:NAME, lab:, lab:FOLDER")
    model: str = Field("", description="the model's name; empty: the server's first")
    api_key_env: str = Field("OPENAI_API_KEY", description="the environment variable that holds the key")
    concurrency: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        "auto", description="calls in flight; auto adapts to the server"
    )
    max_concurrency: int = Field(512, ge=1, description="the most that auto may reach")
    requests_per_minute: float | None = Field(None, gt=0, description="requests started per minute, at most")
    tokens_per_minute: float | None = Field(None, gt=0, description="tokens per minute, in and out, at most")
    timeout_s: float = Field(3600.0, gt=0, description="one deadline around a whole call, retries included")
    n_samples: Literal["auto", "on", "off"] = Field("auto", description="several samples in one request (`n`)")
    send_seed: bool = Field(True, description="send a seed with each request")
    hedge_after_s: float | None = Field(None, gt=0, description="ask a slow call a second time; off by default")
    prices: Prices | None = None
    extra_body: dict[str, object] = Field(default_factory=dict, description="sent with each request as it is")


class RoleSettings(BaseModel):
    """Which endpoint serves a role, and how it samples there. Unset: as the default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field("default", description="the name of an endpoint")
    model: str | None = Field(None, description="unset: the endpoint's")
    temperature: float = Field(1.0, ge=0, le=2, description="sampling temperature")
    top_p: float = Field(0.95, gt=0, le=1, description="nucleus sampling")
    max_tokens: int = Field(32768, ge=1, description="tokens an answer may have, thinking included")


class BudgetSettings(BaseModel):
    """Limits of a whole run, earlier sessions of it included. None: no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_calls: int | None = Field(None, ge=1, description="calls, failed ones included")
    max_tokens: int | None = Field(None, ge=1, description="tokens, in and out")
    max_cost: float | None = Field(None, gt=0, description="money, in the currency of the prices")
    deadline_s: float | None = Field(None, gt=0, description="seconds of work, summed over a run's sessions")
    max_failures: int = Field(10, ge=1, description="consecutive failed calls that end the run")
