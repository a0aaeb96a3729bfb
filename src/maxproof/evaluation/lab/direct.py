"""A `Caller` straight onto an endpoint, without a journal: for a study whose unit of resuming is a whole problem.

Answers are remembered: methods that are compared on one problem and ask the same question get the same answer, so that
they differ by what they do and not by luck. What each of them used is counted by its own `MeteredCaller`.
"""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.models.call_key import call_seed
from maxproof.models.chat import ChatEndpoint, ChatRequest
from maxproof.models.types import Answer, Call, CallAddress, Caller, NoAnswer, Sampling, ask_one


class DirectCaller:
    """All methods on one problem.

    Args:
        seed: of this problem; sampling seeds follow from it and the address.
        judges: who answers the role `judge`; None: the endpoint, as all other roles.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        sampling: Sampling,
        seed: int,
        judges: Caller | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._sampling = sampling
        self._seed = seed
        self._memory: dict[tuple[CallAddress, str, str], Answer] = {}
        self._judges = judges

    async def ask(self, call: Call) -> Answer:
        """Raises `CallFailed`."""
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        """See `models.types.Caller`. Samples that are missing go as one request if they count up without a hole."""
        missing = [call for call in calls if _key(call) not in self._memory]
        failed: dict[CallAddress, NoAnswer] = {}
        for run in _runs(missing):
            if self._judges is not None and run[0].address.role == "judge":
                for call, found in zip(run, await self._judges.ask_samples(run), strict=True):
                    if isinstance(found, NoAnswer):
                        failed[call.address] = found
                    else:
                        self._memory[_key(call)] = found
                continue
            seed = call_seed(self._seed, run[0].address)
            request = ChatRequest("", run[0].prompt(), self._sampling, len(run), seed)
            try:
                reply = await self._endpoint.complete(request)
            except NoAnswer as error:
                failed |= {call.address: error for call in run}
                continue
            for call, answer in zip(run, reply.answers, strict=True):
                self._memory[_key(call)] = answer
        return [failed.get(call.address) or self._memory[_key(call)] for call in calls]


def _key(call: Call) -> tuple[CallAddress, str, str]:
    return call.address, call.template, call.inputs


def _runs(calls: Sequence[Call]) -> list[list[Call]]:
    """Calls of one prompt, cut where their samples do not follow each other."""
    runs: list[list[Call]] = []
    for call in sorted(calls, key=lambda c: c.address.sample):
        if runs and call.address.sample == runs[-1][-1].address.sample + 1:
            runs[-1].append(call)
        else:
            runs.append([call])
    return runs
