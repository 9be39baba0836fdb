"""Decisions on proposed actions: `POST /policy/decisions`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwater.governance.policies.decisions import Decision, DecisionRequest, decide
from headwater.governance.policies.models import Change
from headwater.governance.policies.store import PolicyState
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.rest.lineage_table import ErrorBody, error_body
from headwater.rest.operations import Api, ArgumentError, Operation, OperationRequest
from headwater.schema.urns import dataset_urn, job_urn, parse_urn

# Record a decision in the access log: the principal, the outcome, and the details.
LogDecision = Callable[[str, str, dict[str, Any]], None]
_Text = Annotated[str, Meta(max_length=4_000)]
_Name = Annotated[str, Meta(min_length=1, max_length=4_000)]
COLUMNS_MAX = 1_000


class NameBody(msgspec.Struct):
    """The namespace and the name of a dataset or a job, as producers write them."""

    namespace: _Name
    name: _Name


class DecisionBody(msgspec.Struct, kw_only=True, rename="camel"):
    """A proposed action on a dataset, which is named by `dataset` or by `urn`."""

    action: Literal["delete", "drop", "change", "write", "inference", "export", "read"]
    dataset: NameBody | None = None
    urn: _Text = ""
    job: NameBody | None = None
    job_urn: _Text = ""
    purpose: _Text = ""
    actor: _Text = ""
    columns: Annotated[list[_Name], Meta(max_length=COLUMNS_MAX)] = msgspec.field(
        default_factory=list
    )


class ViolationShown(msgspec.Struct, rename="camel"):
    """A violated policy. `unknown` says why the policy cannot be assessed, if it cannot."""

    policy: str
    severity: str
    enforce: str
    message: str
    unknown: str | None = None
    owners: list[str] = []


class DecisionShown(msgspec.Struct, rename="camel"):
    """A decision. `reason` is `unknown` if policies refuse because they cannot be assessed.

    `known` is false if the caller sees no such node. `note` says that files of policies cannot be
    used. `took` is the time of the server in milliseconds.
    """

    allowed: bool
    enforce: str | None
    reason: str | None
    urn: str
    known: bool
    violations: list[ViolationShown]
    consumers: list[str]
    note: str | None
    took: float


@dataclass(frozen=True)
class PolicyContext:
    """What decisions need: the policies as they are now, the log, and patterns of test jobs."""

    policies: Callable[[], PolicyState]
    log: LogDecision
    test_consumers: tuple[str, ...] = ()


def policies_api(context: PolicyContext) -> Api:
    """Return the route of decisions."""

    def post_decision(request: OperationRequest) -> DecisionShown:
        started = time.perf_counter()
        body: DecisionBody = request.body
        urn = _urn_of(request.view, body)
        change = Change(
            body.action,
            job=_job_urn(body),
            purpose=body.purpose,
            actor=body.actor or request.author,
            columns=tuple(body.columns),
        )
        asked = DecisionRequest(urn, change, datetime.now(UTC), context.test_consumers)
        state = context.policies()
        decision = decide(request.view, state.policies, asked)
        outcome = "allowed" if decision.allowed else "refused"
        policies = [one.policy for one in decision.violations]
        detail = {"urn": urn, "job": change.job, "actor": change.actor, "policies": policies}
        context.log(request.author, f"{outcome} {body.action}", detail)
        return _shown(decision, state.note, (time.perf_counter() - started) * 1_000)

    operation = Operation(
        "POST",
        "/policy/decisions",
        "Whether policies allow an action on a dataset",
        post_decision,
        DecisionShown,
        body=DecisionBody,
    )
    return Api("Policies", ("",), (operation,), ErrorBody, error_body)


def _urn_of(view: GraphView, body: DecisionBody) -> str:
    if (body.dataset is None) == (not body.urn):
        raise ArgumentError(
            "give either the dataset or its urn",
            field="dataset",
            hint='For example {"dataset": {"namespace": "file", "name": "/lake/orders"}}.',
        )
    if body.dataset is not None:
        return resolve_urn(view, dataset_urn(body.dataset.namespace, body.dataset.name))
    if parse_urn(body.urn).kind not in ("dataset", "job", "answer"):
        raise ArgumentError("the urn must be of a dataset, a job or an answer", field="urn")
    return resolve_urn(view, body.urn)


def _job_urn(body: DecisionBody) -> str:
    if body.job is not None:
        return job_urn(body.job.namespace, body.job.name)
    if body.job_urn and parse_urn(body.job_urn).kind != "job":
        raise ArgumentError("the urn must be of a job", field="jobUrn")
    return body.job_urn


def _shown(decision: Decision, note: str, took: float) -> DecisionShown:
    return DecisionShown(
        allowed=decision.allowed,
        enforce=decision.enforce or None,
        reason=decision.reason or None,
        urn=decision.urn,
        known=decision.is_known,
        violations=[
            ViolationShown(
                one.policy,
                one.severity.value,
                one.enforce.value,
                one.message,
                one.unknown or None,
                list(one.owners),
            )
            for one in decision.violations
        ],
        consumers=list(decision.consumers),
        note=note or None,
        took=round(took, 3),
    )
