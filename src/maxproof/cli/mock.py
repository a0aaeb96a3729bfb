"""`maxproof mock`: a scripted OpenAI-compatible server that can be told to fail."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from maxproof.cli.errors import reporting
from maxproof.cli.loop import run_async

if TYPE_CHECKING:
    from maxproof.models.mock import MockServer

_ANSWERS, _TIME, _SERVER = "Answers", "Time and faults", "Server"


def mock(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.", rich_help_panel=_SERVER)] = 8080,
    host: Annotated[str, typer.Option(rich_help_panel=_SERVER)] = "127.0.0.1",
    seed: Annotated[int, typer.Option(help="Of every random draw.", rich_help_panel=_ANSWERS)] = 0,
    quality: Annotated[
        float, typer.Option(min=0, max=1, help="Chance of each step to be right, 0..1.", rich_help_panel=_ANSWERS)
    ] = 0.6,
    false_positive: Annotated[
        float, typer.Option(min=0, max=1, help="Judges that pass a wrong proof, 0..1.", rich_help_panel=_ANSWERS)
    ] = 0.0,
    false_negative: Annotated[
        float, typer.Option(min=0, max=1, help="Judges that fail a right proof, 0..1.", rich_help_panel=_ANSWERS)
    ] = 0.0,
    judge_correlation: Annotated[
        float, typer.Option(min=0, max=1, help="How far judges err together, 0..1.", rich_help_panel=_ANSWERS)
    ] = 0.0,
    format_drift: Annotated[
        float, typer.Option(min=0, max=1, help="Replies in an unusual layout, 0..1.", rich_help_panel=_ANSWERS)
    ] = 0.0,
    refusal: Annotated[float, typer.Option(min=0, max=1, help="Refusals, 0..1.", rich_help_panel=_ANSWERS)] = 0.0,
    truncation: Annotated[
        float, typer.Option(min=0, max=1, help="Answers cut by the token limit, 0..1.", rich_help_panel=_ANSWERS)
    ] = 0.0,
    proof_chars: Annotated[int, typer.Option(min=1, help="Length of a proof.", rich_help_panel=_ANSWERS)] = 1500,
    reasoning_chars: Annotated[int, typer.Option(min=0, help="Length of the thinking.", rich_help_panel=_ANSWERS)] = 0,
    replies: Annotated[
        Path | None,
        typer.Option(
            help="Fixed replies by task, a JSON file; takes the simulated model's place.", rich_help_panel=_ANSWERS
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="KIND@CONDITION,...: 429@0.1,retry-after=2 · 500@first=3 · hang@every=50 · half@0.05 · die@after=100. "
            "Kinds: a status code, hang, reset, half, stall, drip, bad-json, wrong-json, html, die. May be repeated.",
            rich_help_panel=_TIME,
        ),
    ] = None,
    latency: Annotated[float, typer.Option(min=0, help="Median seconds an answer takes.", rich_help_panel=_TIME)] = 0.0,
    latency_sigma: Annotated[
        float, typer.Option(min=0, help="Spread of the log-normal latency.", rich_help_panel=_TIME)
    ] = 0.5,
    stragglers: Annotated[
        float, typer.Option(min=0, max=1, help="Answers that take ten times as long, 0..1.", rich_help_panel=_TIME)
    ] = 0.0,
    max_concurrency: Annotated[
        int | None, typer.Option(min=1, help="Requests served at a time; more wait.", rich_help_panel=_SERVER)
    ] = None,
    reasoning_field: Annotated[
        Literal["reasoning_content", "reasoning", "think-tags", "none"],
        typer.Option(help="Where the thinking goes.", rich_help_panel=_SERVER),
    ] = "reasoning_content",
    n_support: Annotated[
        Literal["supported", "ignored", "refused"],
        typer.Option("--n", help="Several samples in one request.", rich_help_panel=_SERVER),
    ] = "supported",
    usage: Annotated[bool, typer.Option(help="Report token counts.", rich_help_panel=_SERVER)] = True,
    system_role: Annotated[bool, typer.Option(help="Accept system messages.", rich_help_panel=_SERVER)] = True,
    context_tokens: Annotated[
        int | None, typer.Option(min=1, help="Context length; longer prompts get a 400.", rich_help_panel=_SERVER)
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar="MAXPROOF_MOCK_API_KEY",
            show_envvar=True,
            help="A key that requests must carry.",
            rich_help_panel=_SERVER,
        ),
    ] = None,
) -> None:
    """Serve a simulated model: provers and judges with a known truth, latencies, faults. Ctrl-C ends it.

    Point any command at it: maxproof prove PROBLEM --base-url http://127.0.0.1:8080/v1
    """
    # A server's parts take a tenth of a second to import, which every other command would pay.
    from maxproof.models.mock import FaultPlan, Features, Latency, MockServer, Script, SimulatedModel
    from maxproof.models.mock.script import load_replies

    with reporting():
        script: Script = SimulatedModel(
            seed=seed,
            quality=quality,
            false_positive=false_positive,
            false_negative=false_negative,
            judge_correlation=judge_correlation,
            format_drift=format_drift,
            refusal=refusal,
            truncation=truncation,
            proof_chars=proof_chars,
            reasoning_chars=reasoning_chars,
        )
        server = MockServer(
            load_replies(replies) if replies is not None else script,
            faults=FaultPlan.parse(fault or (), seed),
            latency=Latency(latency, latency_sigma, straggler_share=stragglers, seed=seed),
            max_concurrency=max_concurrency,
            features=Features(
                n=n_support,
                usage=usage,
                system_role=system_role,
                reasoning=reasoning_field,
                cached_tokens=True,
                context_tokens=context_tokens,
                api_key=api_key,
            ),
            host=host,
            port=port,
        )
        with suppress(KeyboardInterrupt):
            run_async(_serve(server))


async def _serve(server: MockServer) -> None:
    async with server:
        typer.echo(server.base_url)
        await asyncio.Event().wait()
