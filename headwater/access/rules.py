"""The scope that each route and each GraphQL root field requires, or none (`OPEN`).

A route is identified by its method and its declared path, a GraphQL field by its root type and its
name. Below a root field the namespaces of the key decide, node by node. A route or field without a
rule requires scope admin, and a test fails for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from headwater.access.principal import Scope

OPEN: Final = "open"
Rule = Scope | Literal["open"]

_READ: dict[str, Rule] = {"GET": Scope.READ}
_DELETED: dict[str, Rule] = {"GET": Scope.READ, "DELETE": Scope.STEWARD}
_EDITED: dict[str, Rule] = {"POST": Scope.STEWARD, "DELETE": Scope.STEWARD}
# The paths under /api/v1 that clients of Marquez read and edit.
_MARQUEZ: Mapping[str, dict[str, Rule]] = {
    "/namespaces": _READ,
    "/namespaces/{namespace}": _DELETED,
    "/namespaces/{namespace}/datasets": _READ,
    "/namespaces/{namespace}/datasets/{dataset}": _DELETED,
    "/namespaces/{namespace}/datasets/{dataset}/versions": _READ,
    "/namespaces/{namespace}/datasets/{dataset}/versions/{version}": _READ,
    "/namespaces/{namespace}/jobs": _READ,
    "/namespaces/{namespace}/jobs/{job}": _DELETED,
    "/namespaces/{namespace}/jobs/{job}/runs": _READ,
    "/namespaces/{namespace}/jobs/{job}/versions": _READ,
    "/namespaces/{namespace}/jobs/{job}/versions/{version}": _READ,
    "/jobs": _READ,
    "/jobs/runs/{id}": _READ,
    "/jobs/runs/{id}/facets": _READ,
    "/sources": _READ,
    "/sources/{source}": _READ,
    "/tags": _READ,
    "/column-lineage": _READ,
    "/search": _READ,
    "/events/lineage": _READ,
    "/stats/lineage-events": _READ,
    "/stats/{asset}": _READ,
    "/tags/{tag}": {"PUT": Scope.STEWARD},
    "/namespaces/{namespace}/datasets/{dataset}/tags/{tag}": _EDITED,
    "/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}": _EDITED,
    "/namespaces/{namespace}/jobs/{job}/tags/{tag}": _EDITED,
}
# The views of the page: files without data.
_VIEWS = (
    "/",
    "/lineage",
    "/search",
    "/failures",
    "/findings",
    "/policies",
    "/finding",
    "/sign-in",
    "/datasets/{urn:path}",
    "/jobs/{urn:path}",
    "/runs/{id:path}",
    "/answers/{id:path}",
    "/dashboards",
    "/dashboards/{name}",
)
ROUTES: dict[str, dict[str, Rule]] = {
    **{path: {"GET": OPEN} for path in _VIEWS},
    "/static": {"GET": OPEN},
    # A signed address stands for a key (headwater.access.tile_tokens).
    "/tiles/{figure}": {"GET": OPEN},
    "/runbooks": {"GET": OPEN},
    "/runbooks/{rule}": {"GET": OPEN},
    "/healthz": {"GET": OPEN},
    "/readyz": {"GET": OPEN},
    "/metrics": _READ,
    "/api/v1/lineage": {"POST": Scope.INGEST, "GET": Scope.READ},
    "/api/v1/lineage-table": _READ,
    "/api/v1/analyses": _READ,
    "/api/v1/evidence": _READ,
    "/policy/decisions": {"POST": Scope.READ},
    "/api/v1/lineage/batch": {"POST": Scope.INGEST},
    "/v1/traces": {"POST": Scope.INGEST},
    "/session": {"GET": OPEN, "POST": OPEN, "DELETE": OPEN},
    "/session/oidc": {"GET": OPEN},
    "/session/oidc/callback": {"GET": OPEN},
    # The page GraphiQL is open. Its questions send the key of its user; the endpoint refuses those
    # without one, and every field has a rule of its own.
    "/graphql": {"GET": OPEN, "POST": OPEN},
    **{f"{prefix}/lineage/trace": {"POST": Scope.INGEST} for prefix in ("", "/v1")},
    **{f"{prefix}/lineage/impact": {"POST": Scope.READ} for prefix in ("", "/v1")},
    **{f"{prefix}/lineage/{{id}}": _READ for prefix in ("", "/v1")},
    **{f"/api/v1{path}": rules for path, rules in _MARQUEZ.items()},
    "/api/atlas/v2/lineage/{guid}": _READ,
    "/api/atlas/v2/lineage/uniqueAttribute/type/{typeName}": _READ,
    "/api/atlas/v2/entity": {"POST": Scope.INGEST, "PUT": Scope.INGEST},
    "/api/atlas/v2/entity/bulk": {"POST": Scope.INGEST, "PUT": Scope.INGEST},
    "/api/atlas/v2/entity/guid/{guid}": _READ,
    "/api/atlas/v2/entity/guid/{guid}/header": _READ,
    "/api/atlas/v2/entity/uniqueAttribute/type/{typeName}": _READ,
    "/cypher": {"GET": Scope.CYPHER, "POST": Scope.CYPHER},
    "/cypher/{name}": {"POST": Scope.CYPHER},
    "/openapi.json": {"GET": OPEN},
    "/access/keys": {"GET": Scope.ADMIN},
    "/access/log": {"GET": Scope.ADMIN},
}

_QUERIES = (
    "alerts",
    "aliases",
    "answer",
    "answers",
    "breakdowns",
    "columnLineage",
    "columns",
    "competingDatasets",
    "conformance",
    "contractCheck",
    "contractViolations",
    "contracts",
    "coverage",
    "dataset",
    "datasets",
    "failedChecks",
    "failedRuns",
    "failingPipelines",
    "figures",
    "finding",
    "findings",
    "freshness",
    "impact",
    "inventories",
    "inventoryAssets",
    "job",
    "jobs",
    "lineage",
    "lineageTable",
    "models",
    "modelsUsing",
    "namespaces",
    "node",
    "nodesByName",
    "overdueRuns",
    "ownedBy",
    "owners",
    "personalData",
    "platform",
    "policies",
    "policyCheck",
    "policyViolations",
    "quality",
    "replayPlan",
    "rootCause",
    "run",
    "runs",
    "schemaChanges",
    "schemaDiff",
    "search",
    "serviceLevels",
    "trace",
    "traces",
    "unusedDatasets",
    "usage",
)
_SUBSCRIPTIONS = ("failures", "findingChanges", "runEvents")
_REGISTRATIONS = ("registerAnswer", "registerArtifact", "registerPipelineRun", "registerSource")
_EDITS = (
    "approve",
    "certify",
    "declassify",
    "deprecate",
    "editDescription",
    "editOwners",
    "editTags",
    "joinAliases",
    "splitAliases",
    "withdrawApproval",
)
FIELDS: dict[str, Scope] = {
    **{f"Query.{field}": Scope.READ for field in _QUERIES},
    **{f"Subscription.{field}": Scope.READ for field in _SUBSCRIPTIONS},
    **{f"Mutation.{field}": Scope.INGEST for field in _REGISTRATIONS},
    **{f"Mutation.{field}": Scope.STEWARD for field in _EDITS},
}


def rule_of_route(method: str, path: str) -> Rule:
    """Return the rule of a request; HEAD has the rule of GET."""
    rules = ROUTES.get(path if path == "/" else path.rstrip("/"), {})
    return rules.get("GET" if method == "HEAD" else method, Scope.ADMIN)


def rule_of_field(field: str) -> Scope:
    """Return the scope that a root field of GraphQL requires, for example `Query.lineage`."""
    return FIELDS.get(field, Scope.ADMIN)
