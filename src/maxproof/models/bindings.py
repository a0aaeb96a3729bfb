"""Which endpoint, model and sampling serve which role or judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Protocol

from maxproof.models.settings import ROLES, EndpointSettings, RoleSettings
from maxproof.models.types import Sampling
from maxproof.problems import InputError


@dataclass(frozen=True, slots=True)
class Binding:
    """What answers one role or judge.

    Attributes:
        name: the role, or `judge:NAME`.
        endpoint: the endpoint's name in the configuration.
        settings: that endpoint.
        model: the model asked for; "" for the server's first.
    """

    name: str
    endpoint: str
    settings: EndpointSettings
    model: str
    sampling: Sampling


class JudgeBinding(Protocol):
    """What a judge may set for itself; None: as the `judge` role."""

    @property
    def name(self) -> str: ...
    @property
    def endpoint(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def max_tokens(self) -> int | None: ...


class Bindings(Mapping[str, Binding]):
    """Bindings by name. A judge without its own has the `judge` role's."""

    def __init__(self, bindings: Sequence[Binding]) -> None:
        self._bindings = {binding.name: binding for binding in bindings}

    def __getitem__(self, name: str) -> Binding:
        found = self._bindings.get(name)
        if found is None and name.startswith("judge:"):
            found = self._bindings.get("judge")
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._bindings)

    def __len__(self) -> int:
        return len(self._bindings)

    def with_models(self, served: Mapping[str, str]) -> Bindings:
        """The same, with the models of `served`, by endpoint, where the server's first is asked for."""
        return Bindings(
            [
                binding if binding.model else replace(binding, model=served.get(binding.endpoint, ""))
                for binding in self._bindings.values()
            ]
        )

    @property
    def endpoints(self) -> dict[str, EndpointSettings]:
        """The endpoints in use, by name, each once."""
        return {binding.endpoint: binding.settings for binding in self._bindings.values()}


def resolve_bindings(
    endpoints: Mapping[str, EndpointSettings],
    roles: Mapping[str, RoleSettings],
    judges: Sequence[JudgeBinding] = (),
) -> Bindings:
    """One binding for each role and one for each judge.

    A role that is not configured has the default `RoleSettings`. A judge takes endpoint, model, temperature and
    max_tokens from the `judge` role where it sets none; a judge on another endpoint takes that endpoint's model.

    Raises InputError for an unknown role or endpoint, with the nearest name that exists.
    """
    if not endpoints:
        raise InputError("no endpoint is configured", field="endpoints", hint="add [endpoints.default]")
    for role in roles:
        if role not in ROLES:
            raise InputError(f"unknown role {role!r}{_nearest(role, ROLES)}", field=f"roles.{role}")

    def bind(name: str, field: str, settings: RoleSettings) -> Binding:
        if settings.endpoint not in endpoints:
            raise InputError(
                f"unknown endpoint {settings.endpoint!r}{_nearest(settings.endpoint, list(endpoints))}",
                field=f"{field}.endpoint",
            )
        endpoint = endpoints[settings.endpoint]
        model = settings.model if settings.model is not None else endpoint.model
        sampling = Sampling(settings.temperature, settings.top_p, settings.max_tokens)
        return Binding(name, settings.endpoint, endpoint, model, sampling)

    bindings = [bind(role, f"roles.{role}", roles.get(role, RoleSettings())) for role in ROLES]
    base = roles.get("judge", RoleSettings())
    for judge in judges:
        own = {
            key: value
            for key in ("endpoint", "model", "temperature", "max_tokens")
            if (value := getattr(judge, key)) is not None
        }
        if judge.endpoint not in (None, base.endpoint) and judge.model is None:
            own["model"] = None
        bindings.append(bind(f"judge:{judge.name}", f"verifier.judges.{judge.name}", base.model_copy(update=own)))
    return Bindings(bindings)


def _nearest(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f", did you mean {close[0]!r}?" if close else f", known: {', '.join(known)}"
