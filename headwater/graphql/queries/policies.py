"""Policies in the schema: those in force, which nodes violate them, and files that are tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated

import strawberry
from strawberry.scalars import JSON

from headwater.errors import QueryError
from headwater.governance.policies import check, competing, models
from headwater.governance.policies.check import Checked
from headwater.governance.policies.evaluate_bounded import outcomes_in_process
from headwater.governance.policies.files import FILE_BYTES_MAX, FILES_MAX, parse_policies
from headwater.governance.policies.files import PolicyFile as File
from headwater.governance.policies.removals import check_removals
from headwater.governance.policies.standing import ViolationFilter, policy_violations
from headwater.governance.policies.store import PolicyState
from headwater.graphql.context import Context, Info
from headwater.graphql.types.enums import Tier
from headwater.graphql.types.fields import After, Before, First, Last, resolver
from headwater.graphql.types.results import Connection, counted
from headwater.graphql.types.scalars import ID
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.pagination import Page, cut_page, page_request
from headwater.lineage.view import GraphView

_SHAPE = ("", "", "")
# Each page of a check evaluates the policies again.
_CHECK_PAGE_MAX = 1_000


@strawberry.type(description="A node that violates a policy, or for which it cannot be assessed.")
class PolicyViolation:
    policy: str = strawberry.field(description="The name of the policy.")
    severity: Tier = strawberry.field(description="How urgent it is, as the policy says.")
    urn: ID = strawberry.field(description="The node.")
    message: str = strawberry.field(description="The message of the policy for this node.")
    enforce: str = strawberry.field(
        description="What it does to a proposed change: block, warn or audit."
    )
    since: datetime | None = strawberry.field(
        description="The first event that names the node: the violation is not older. Of a past "
        "removal, its time."
    )
    unknown: str | None = strawberry.field(
        description="Why the policy cannot be assessed; null for a violation."
    )
    evidence: JSON = strawberry.field(
        description="The variables that the condition and the message read."
    )
    owners: list[str] = strawberry.field(description="The owners of the node.")
    notify: list[str] = strawberry.field(description="Who else learns of it, as the policy says.")

    @classmethod
    def of(cls, found: models.Violation) -> PolicyViolation:
        return cls(
            policy=found.policy,
            severity=Tier(found.severity),
            urn=ID(found.urn),
            message=found.message,
            enforce=found.enforce,
            since=found.since,
            unknown=found.unknown or None,
            evidence=JSON(dict(found.evidence)),
            owners=list(found.owners),
            notify=list(found.notify),
        )


@strawberry.type(description="A policy in force.")
class Policy:
    name: str
    title: str = strawberry.field(description="The policy in a few words.")
    description: str = strawberry.field(description="Why the policy exists.")
    on: list[str] = strawberry.field(description="What it is evaluated on.")
    severity: Tier = strawberry.field(description="How urgent a violation is.")
    enforce: str = strawberry.field(description="block, warn or audit.")
    condition: str = strawberry.field(description="The condition in CEL; true is a violation.")
    rule: str | None = strawberry.field(description="The ready-made rule; null without one.")
    owners: list[str] = strawberry.field(description="Who answers for the policy.")
    file: str = strawberry.field(description="Its file in the directory of the policies.")

    @classmethod
    def of(cls, policy: models.Policy) -> Policy:
        return cls(
            name=policy.name,
            title=policy.title,
            description=policy.description,
            on=sorted(policy.subjects),
            severity=Tier(policy.severity),
            enforce=policy.enforce,
            condition=policy.source,
            rule=policy.rule or None,
            owners=list(policy.owners),
            file=policy.file,
        )


@strawberry.type(description="The policies in force.")
class Policies:
    policies: list[Policy] = strawberry.field(description="The policies, by name.")
    loaded_at: datetime | None = strawberry.field(description="When their files were read.")
    error: str | None = strawberry.field(
        description="Why files cannot be used. Their earlier policies are in force, if there are "
        "any, and those of the other files."
    )
    broken_files: list[str] = strawberry.field(description="The files that cannot be used.")


@strawberry.type(description="A dataset that competes with others.")
class CompetingDataset:
    urn: ID
    certified: bool = strawberry.field(description="True if it has the tag certified.")
    deprecated: bool = strawberry.field(description="True if it is deprecated.")


@strawberry.type(
    description="Datasets that tell the same: they have the same columns from the same sources, "
    "and neither comes from the other."
)
class CompetingDatasets:
    datasets: list[CompetingDataset] = strawberry.field(description="The datasets, by urn.")
    columns: list[str] = strawberry.field(description="Their columns, in lower case.")
    sources: list[ID] = strawberry.field(description="The sources that all of them come from.")
    preferred: ID | None = strawberry.field(
        description="The certified one; null if there is none, or more than one."
    )

    @classmethod
    def of(cls, found: competing.CompetingDatasets) -> CompetingDatasets:
        return cls(
            datasets=[
                CompetingDataset(
                    urn=ID(one.urn), certified=one.is_certified, deprecated=one.is_deprecated
                )
                for one in found.datasets
            ],
            columns=list(found.columns),
            sources=[ID(urn) for urn in found.sources],
            preferred=ID(found.preferred) if found.preferred else None,
        )


@strawberry.type(description="How many nodes violate a policy.")
class PolicyCount:
    policy: str = strawberry.field(description="The name of the policy.")
    violations: int = strawberry.field(description="The number of nodes that violate it.")
    unknown: int = strawberry.field(
        description="The number of nodes for which it cannot be assessed, if `includeUnknown`."
    )

    @classmethod
    def all_of(cls, found: Iterable[models.Violation]) -> list[PolicyCount]:
        """Return the counts of the policies that have any, by name."""
        counts = Counter((one.policy, bool(one.unknown)) for one in found)
        names = sorted({policy for policy, _ in counts})
        return [
            cls(policy=name, violations=counts[name, False], unknown=counts[name, True])
            for name in names
        ]


@strawberry.type(description="The nodes that violate the policies in force.")
class PolicyViolations(Connection[PolicyViolation]):
    counts: list[PolicyCount] = strawberry.field(
        description="The violations of each policy on all pages, by name."
    )
    note: str | None = strawberry.field(
        description="That files of policies cannot be used, so that violations may be missing."
    )


@strawberry.type(description="What files of policies say about the graph.")
class PolicyCheck(Connection[PolicyViolation]):
    node_count: int = strawberry.field(description="The number of evaluated nodes.")
    policy_count: int = strawberry.field(description="The number of policies that concerned them.")
    violation_count: int = strawberry.field(description="The number of violations.")
    unknown_count: int = strawberry.field(
        description="The number of policies and nodes that cannot be assessed."
    )
    missing: list[ID] = strawberry.field(
        description="The given nodes that do not exist, or that the key does not see."
    )


@strawberry.input(description="A file of policies.")
class PolicyFile:
    path: str = strawberry.field(description="Its path, for messages.")
    text: str = strawberry.field(description="Its text, in YAML.")


@strawberry.input(description="A proposed change of nodes.")
class ProposedChange:
    action: str = strawberry.field(description=f"One of {', '.join(models.SUBJECTS_OF_ACTION)}.")
    job: str = strawberry.field(default="", description="The urn of the job that makes it.")
    purpose: str = strawberry.field(default="", description="What the data is for.")
    actor: str = strawberry.field(default="", description="Who makes it.")
    columns: list[str] = strawberry.field(
        default_factory=list, description="The columns that it removes or changes."
    )


@strawberry.type
class PolicyQueries:
    @resolver(
        "The nodes that violate the policies in force, the most urgent first. They are evaluated "
        "on what the key sees, at most 30 seconds ago, and again once the graph changes."
    )
    async def policy_violations(
        self,
        info: Info,
        policy: Annotated[
            str | None, strawberry.argument(description="Only violations of this policy.")
        ] = None,
        severity: Annotated[
            Tier | None, strawberry.argument(description="Only violations of this severity.")
        ] = None,
        namespace: Annotated[
            str | None, strawberry.argument(description="Only nodes of this namespace.")
        ] = None,
        urn: Annotated[ID | None, strawberry.argument(description="Only this node.")] = None,
        include_unknown: Annotated[
            bool, strawberry.argument(description="Also what cannot be assessed.")
        ] = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> PolicyViolations | None:
        request = page_request(first, after, last, before)
        filter = ViolationFilter(
            policy or "",
            severity.value if severity else "",
            namespace or "",
            urn or "",
            include_unknown=include_unknown,
        )
        found, note = await info.context.run_in_thread(_violations, info.context, filter)
        page = cut_page(found, _key, request, shape=_SHAPE)
        entries = map(PolicyViolation.of, page.entries)
        return PolicyViolations.of(
            page,
            entries,
            counted(len(found)),
            note=note or None,
            counts=PolicyCount.all_of(found),
        )

    @resolver("The groups of datasets that tell the same, by the first urn of each.")
    async def competing_datasets(
        self,
        info: Info,
        urn: Annotated[
            ID | None, strawberry.argument(description="Only the groups of this dataset.")
        ] = None,
        first: First = None,
        after: After = None,
    ) -> Connection[CompetingDatasets] | None:
        request = page_request(first, after)
        found = await info.context.run_in_thread(_competing, info.context, urn or "")
        page = cut_page(found, _first_urn, request, shape=("",))
        return Connection.of(page, map(CompetingDatasets.of, page.entries), counted(len(found)))

    @resolver("The policies in force.")
    async def policies(self, info: Info) -> Policies | None:
        state = await info.context.run_in_thread(_state, info.context)
        return Policies(
            policies=[Policy.of(one) for one in state.policies.policies],
            loaded_at=state.loaded_at,
            error=state.error or None,
            broken_files=list(state.broken),
        )

    @resolver(
        "What files of policies say about the graph, or about a proposed change of nodes. Nothing "
        "is kept."
    )
    async def policy_check(
        self,
        info: Info,
        files: Annotated[
            list[PolicyFile], strawberry.argument(description="The files of the policies.")
        ],
        nodes: Annotated[
            list[ID] | None,
            strawberry.argument(description="Only these nodes; null for the whole graph."),
        ] = None,
        change: Annotated[
            ProposedChange | None,
            strawberry.argument(description="A proposed change of the nodes, instead of them."),
        ] = None,
        as_of: Annotated[
            datetime | None,
            strawberry.argument(
                description="Evaluate the lineage and the age of data as of this time. Owners, "
                "tags and descriptions are those of now."
            ),
        ] = None,
        removed_since: Annotated[
            datetime | None,
            strawberry.argument(
                description="Instead of nodes: the datasets that were dropped or deleted since "
                "then, each as a proposed delete at the moment before, on the lineage of then."
            ),
        ] = None,
        first: First = None,
        after: After = None,
    ) -> PolicyCheck | None:
        request = page_request(first, after, maximum=_CHECK_PAGE_MAX)
        if removed_since is None:
            found = await info.context.run_in_code_thread(
                _check, info.context, files, nodes, _change(change), as_of
            )
        elif nodes is not None or change is not None:
            raise QueryError("removedSince excludes nodes and change", hint="Ask for one of them.")
        else:
            found = await info.context.run_in_code_thread(
                _check_removals, info.context, files, removed_since, as_of
            )
        entries = [*found.violations, *found.unknown]
        page: Page[models.Violation] = cut_page(entries, _key, request, shape=_SHAPE)
        return PolicyCheck.of(
            page,
            map(PolicyViolation.of, page.entries),
            counted(len(entries)),
            node_count=found.nodes,
            policy_count=found.policies,
            violation_count=len(found.violations),
            unknown_count=len(found.unknown),
            missing=[ID(urn) for urn in found.missing],
        )


def _key(violation: models.Violation) -> tuple[str, str, str]:
    return str(violation.severity), violation.policy, violation.urn


def _first_urn(group: competing.CompetingDatasets) -> tuple[str]:
    return (group.datasets[0].urn,)


def _competing(context: Context, urn: str) -> list[competing.CompetingDatasets]:
    view: GraphView = context.view
    return competing.competing_datasets(view, resolve_urn(view, urn) if urn else "")


def _state(context: Context) -> PolicyState:
    """Return the policies in force; all of them concern every reader."""
    return context.policies.read()


def _violations(context: Context, filter: ViolationFilter) -> tuple[list[models.Violation], str]:
    """Return the violations, and a note if files of policies cannot be used."""
    state = context.policies.read()
    found = policy_violations(
        context.view,
        state.policies,
        datetime.now(UTC),
        filter,
        test_consumers=context.policies.test_consumers,
    )
    return found, state.note


def _change(given: ProposedChange | None) -> models.Change | None:
    if given is None:
        return None
    return models.Change(given.action, given.job, given.purpose, given.actor, tuple(given.columns))


def _check(
    context: Context,
    files: Sequence[PolicyFile],
    nodes: Sequence[str] | None,
    change: models.Change | None,
    as_of: datetime | None,
) -> Checked:
    policies = _parsed(files)
    view: GraphView = context.view
    tests = context.policies.test_consumers
    instant = _utc(as_of) or datetime.now(UTC)
    if nodes is None:
        if change is not None:
            raise QueryError("a change needs nodes", hint="Give the nodes that it changes.")
        return check.check_graph(
            view,
            policies,
            instant,
            past=as_of is not None,
            test_consumers=tests,
            outcomes_of=outcomes_in_process,
        )
    request = check.CheckRequest(change, as_of is not None, tests, outcomes_of=outcomes_in_process)
    return check.check_nodes(view, policies, nodes, instant, request)


def _check_removals(
    context: Context, files: Sequence[PolicyFile], since: datetime, as_of: datetime | None
) -> Checked:
    return check_removals(
        context.view,
        _parsed(files),
        _utc(since) or since,
        _utc(as_of) or datetime.now(UTC),
        test_consumers=context.policies.test_consumers,
        outcomes_of=outcomes_in_process,
    )


def _utc(instant: datetime | None) -> datetime | None:
    """Return an instant with a zone; one without is in UTC."""
    if instant is None or instant.tzinfo is not None:
        return instant
    return instant.replace(tzinfo=UTC)


def _parsed(files: Sequence[PolicyFile]) -> models.PolicySet:
    if len(files) > FILES_MAX or sum(len(file.text) for file in files) > FILE_BYTES_MAX:
        raise QueryError(
            f"the files have more than {FILE_BYTES_MAX} characters, or there are more than "
            f"{FILES_MAX}",
            hint="Check them in parts.",
        )
    return parse_policies([File(file.path, file.text) for file in files])
