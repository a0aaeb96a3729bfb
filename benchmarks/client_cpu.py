"""CPU per call of this package's client, journaling included, beside the openai SDK.

Each row is a fresh process that keeps a fixed number of calls in flight against a mock server in another process,
with prompts and replies of about 20 KB that all differ. CPU is user + system time of the whole process, all its
threads, from the first call to the last, over the calls made; starting up and a warm-up of one call per worker are not
counted. All rows use the same event loop (uvloop where installed). The server answers after a fixed latency, chosen so
that it is the latency and not the machine that limits the rate; its own peak says how many calls really were in flight.

    journaled client   JournaledCaller.ask: prompt, limits, request, parsing, compression, a durable row for each call
    client alone       ChatClient.complete: the same without the journal
    openai SDK         AsyncOpenAI, chat.completions.create, as it comes (its pool takes 1,000 connections)
    aiohttp alone      a bare POST and a parsed reply: the floor
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import aiohttp

from benchmarks.mock_process import mock_process, new_event_loop
from benchmarks.report import print_table
from maxproof.models.bindings import resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.client import ChatClient, ChatRequest
from maxproof.models.journal import Journal
from maxproof.models.mock import Latency, MockRequest, SimulatedModel
from maxproof.models.settings import EndpointSettings
from maxproof.models.types import Call, CallAddress, Message, Sampling

CHARS = 20_000
_LATENCY_S = {64: 0.15, 512: 1.2}
_KEY_VARIABLE = "MAXPROOF_BENCHMARK_KEY"

_Ask = Callable[[int], Awaitable[object]]


@cache
def _prose() -> str:
    return SimulatedModel(seed=7, proof_chars=20 * CHARS)(MockRequest(1, {"messages": []}, {}, 0, "prose")).text


def _messages(number: int) -> tuple[Message, ...]:
    """A prompt of about `CHARS` characters, a slice of prose, so that making it costs next to nothing."""
    start = number * 97 % (len(_prose()) - CHARS)
    return Message("system", "Write a proof."), Message("user", f"{number}\n{_prose()[start : start + CHARS]}")


def _endpoint(base_url: str, in_flight: int) -> EndpointSettings:
    return EndpointSettings(base_url=base_url, model="mock", api_key_env=_KEY_VARIABLE, concurrency=in_flight)


@asynccontextmanager
async def _journaled(base_url: str, in_flight: int) -> AsyncIterator[_Ask]:
    endpoint = _endpoint(base_url, in_flight)
    with tempfile.TemporaryDirectory() as folder, Journal.create(Path(folder) / "journal.sqlite", {}) as journal:
        async with ChatClient("default", endpoint) as client:
            caller = JournaledCaller(journal, {"default": client}, resolve_bindings({"default": endpoint}, {}))

            async def ask(number: int) -> object:
                address = CallAddress("generator", "generate", number)
                return await caller.ask(Call(address, "benchmark@1", f"{number:064x}", lambda: _messages(number)))

            yield ask


@asynccontextmanager
async def _client(base_url: str, in_flight: int) -> AsyncIterator[_Ask]:
    async with ChatClient("default", _endpoint(base_url, in_flight)) as client:
        yield lambda number: client.complete(ChatRequest("mock", _messages(number), Sampling(), seed=number))


@asynccontextmanager
async def _openai(base_url: str, in_flight: int) -> AsyncIterator[_Ask]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:

        def ask(number: int) -> Awaitable[object]:
            messages = [{"role": m.role, "content": m.content} for m in _messages(number)]
            return client.chat.completions.create(
                model="mock",
                messages=messages,  # type: ignore[arg-type]
                temperature=1.0,
                top_p=0.95,
                max_tokens=32768,
                seed=number,
            )

        yield ask


@asynccontextmanager
async def _aiohttp(base_url: str, in_flight: int) -> AsyncIterator[_Ask]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(number: int) -> object:
            messages = [{"role": m.role, "content": m.content} for m in _messages(number)]
            body = {"model": "mock", "messages": messages, "max_tokens": 32768, "seed": number}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                return await response.json()

        yield ask


_WAYS = {
    "journaled client": _journaled,
    "client alone": _client,
    "openai SDK": _openai,
    "aiohttp alone": _aiohttp,
}


async def _measure(way: str, base_url: str, in_flight: int, calls: int) -> tuple[float, float]:
    async with _WAYS[way](base_url, in_flight) as ask:

        async def keep_asking(numbers: range) -> None:
            for number in numbers:
                await ask(number)

        async def ask_all(first: int, count: int) -> None:
            async with asyncio.TaskGroup() as group:
                for worker in range(in_flight):
                    group.create_task(keep_asking(range(first + worker, first + count, in_flight)))

        await ask_all(0, in_flight)
        cpu, wall = time.process_time(), time.perf_counter()
        await ask_all(in_flight, calls)
        return time.process_time() - cpu, time.perf_counter() - wall


def measure(way: str, base_url: str, in_flight: int, calls: int) -> tuple[float, float]:
    """CPU and wall seconds for `calls` calls. Runs in a process of its own."""
    os.environ[_KEY_VARIABLE] = "none"
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_measure(way, base_url, in_flight, calls))


def run(quick: bool) -> None:
    """Prints one table for each number in flight."""
    for in_flight, latency_s in _LATENCY_S.items():
        calls = in_flight * ((10 if quick else 60) if in_flight < 100 else (2 if quick else 8))
        results = {}
        for way in _WAYS:
            with (
                mock_process(SimulatedModel(proof_chars=CHARS), latency=Latency(latency_s, sigma=0.0)) as server,
                ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
            ):
                cpu, wall = pool.submit(measure, way, server.base_url, in_flight, calls).result()
                results[way] = cpu / calls, calls / wall, server.stats().peak_in_flight
        ours = results["journaled client"][0]
        print_table(
            f"CPU per call, {in_flight} in flight, {CHARS // 1000} KB prompts and replies, {calls} calls",
            ("client", "CPU ms/call", "over journaled", "calls/s", "peak in flight"),
            [(way, cpu * 1e3, f"{cpu / ours:.2f}x", rate, peak) for way, (cpu, rate, peak) in results.items()],
            f"server latency {latency_s * 1e3:.0f} ms; target: at most 1 ms for the journaled client",
        )
