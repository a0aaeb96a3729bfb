"""What a run has spent and what is in flight; estimates for what a request will take."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from maxproof.models.bindings import Binding
from maxproof.models.budget import NOTHING, Admission, Amounts, Decision, deadline_reserve, decide
from maxproof.models.prices import cost_of, prices_of
from maxproof.models.reply import estimate_tokens
from maxproof.models.settings import BudgetSettings
from maxproof.models.types import Message, Usage

RESERVING_ROLE = "ranker"


@dataclass(slots=True)
class _Seen:
    """Answers of one role, for their means."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class Ledger:
    """Totals of the whole run, earlier sessions included.

    Attributes:
        reserved_calls: calls kept for the ranker; shrinks as its calls are made.
        spent: finished calls.
        in_flight: estimate of the calls that run.
    """

    budget: BudgetSettings
    reserved_calls: int = 0
    spent: Amounts = NOTHING
    in_flight: Amounts = NOTHING
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=32))

    def add(self, role: str, usage: Usage | None, cost: float | None, latency_s: float) -> None:
        """A finished call; `usage` None for a failed one."""
        self.spent += Amounts(1, usage.total_tokens if usage else 0, cost or 0.0)
        if role == RESERVING_ROLE:
            self.reserved_calls = max(0, self.reserved_calls - 1)
        if usage is not None:
            seen = self._seen.setdefault(role, _Seen())
            seen.calls += 1
            seen.prompt_tokens += usage.prompt_tokens
            seen.completion_tokens += usage.completion_tokens
            self._latencies.append(latency_s)

    def admit(
        self, binding: Binding, role: str, messages: tuple[Message, ...], samples: int
    ) -> tuple[Decision, Amounts]:
        """Whether a request of `samples` samples may start, and its estimate, which counts as in flight if it does."""
        if self.budget.max_tokens is None and self.budget.max_cost is None:
            prompt = 0  # nobody asks, and counting takes time
        else:
            prompt = sum(estimate_tokens(message.content) for message in messages)
        answer = self._mean_answer(role)
        ask = self._amounts(binding, prompt, binding.sampling.max_tokens if answer is None else answer, samples)
        least = ask if answer is not None else self._amounts(binding, prompt, 0, samples)
        decision = decide(
            self.budget,
            spent=self.spent,
            in_flight=self.in_flight,
            ask=ask,
            least=least,
            reserve=NOTHING if role == RESERVING_ROLE else self._reserve(binding),
        )
        if decision.admission is Admission.START:
            self.in_flight += ask
        return decision, ask

    def release(self, estimate: Amounts) -> None:
        """What `admit` counted as in flight has ended, in whatever way."""
        self.in_flight -= estimate

    def time_left(self, role: str, elapsed_s: float) -> tuple[float, float] | None:
        """Seconds in which a call of this role may start, and in which it must end; None without a deadline.

        The ranker has all of it. Other roles start nothing in the reserve and are cut off half way through it, so that
        a slow call can't take the tournament's time.
        """
        deadline = self.budget.deadline_s
        if deadline is None:
            return None
        recent = sum(self._latencies) / len(self._latencies) if self._latencies else None
        kept = 0.0 if role == RESERVING_ROLE or not self.reserved_calls else deadline_reserve(deadline, recent)
        return deadline - kept - elapsed_s, deadline - kept / 2 - elapsed_s

    def _reserve(self, binding: Binding) -> Amounts:
        seen = self._seen.values()
        calls = sum(role.calls for role in seen)
        if not calls:
            return Amounts(self.reserved_calls)
        prompt = sum(role.prompt_tokens for role in seen) / calls
        answer = sum(role.completion_tokens for role in seen) / calls
        return self._amounts(binding, self.reserved_calls * prompt, answer, self.reserved_calls)

    def _mean_answer(self, role: str) -> float | None:
        seen = self._seen.get(role)
        return seen.completion_tokens / seen.calls if seen else None

    @staticmethod
    def _amounts(binding: Binding, prompt_tokens: float, answer_tokens: float, calls: int) -> Amounts:
        prices = prices_of(binding.settings)
        usage = Usage(round(prompt_tokens), round(calls * answer_tokens))
        return Amounts(calls, usage.total_tokens, cost_of(usage, prices) if prices else 0.0)
