"""A scripted, fault-injecting OpenAI-compatible server, for tests of anything that talks to a model."""

from maxproof.models.mock.faults import Fault, FaultPlan, parse_fault
from maxproof.models.mock.script import MockReply, MockRequest, Replies, Script
from maxproof.models.mock.server import MockServer, Stats
from maxproof.models.mock.settings import Features, Latency
from maxproof.models.mock.simulate import SimulatedModel

__all__ = [
    "Fault",
    "FaultPlan",
    "Features",
    "Latency",
    "MockReply",
    "MockRequest",
    "MockServer",
    "Replies",
    "Script",
    "SimulatedModel",
    "Stats",
    "parse_fault",
]
