"""The scope that each route and each GraphQL root field requires, or none (`OPEN`).

A route is identified by its method and its declared path, a GraphQL field by its root type and its
name. Below a root field the namespaces of the key decide, node by node. A route or field without a
rule requires scope admin, and a test fails for it.
"""

from __future__ import annotations

from typing import Final, Literal

from headwater.access.principal import Scope

OPEN: Final = "open"
Rule = Scope | Literal["open"]

_READ: dict[str, Rule] = {"GET": Scope.READ}
# The paths under /api/v1 that clients of Marquez read.
_MARQUEZ = (
    "/namespaces",
    "/namespaces/{namespace}",
    "/namespaces/{namespace}/datasets",
    "/namespaces/{namespace}/datasets/{dataset}",
    "/namespaces/{namespace}/datasets/{dataset}/versions",
    "/namespaces/{namespace}/datasets/{dataset}/versions/{version}",
    "/namespaces/{namespace}/jobs",
    "/namespaces/{namespace}/jobs/{job}",
    "/namespaces/{namespace}/jobs/{job}/runs",
    "/namespaces/{namespace}/jobs/{job}/versions",
    "/namespaces/{namespace}/jobs/{job}/versions/{version}",
    "/jobs",
    "/jobs/runs/{id}",
    "/jobs/runs/{id}/facets",
    "/sources",
    "/sources/{source}",
    "/tags",
    "/column-lineage",
    "/search",
    "/events/lineage",
    "/stats/lineage-events",
    "/stats/{asset}",
)
ROUTES: dict[str, dict[str, Rule]] = {
    "/": {"GET": OPEN},
    "/static": {"GET": OPEN},
    "/healthz": {"GET": OPEN},
    "/readyz": {"GET": OPEN},
    "/metrics": _READ,
    "/api/v1/lineage": {"POST": Scope.INGEST, "GET": Scope.READ},
    "/api/v1/lineage-table": _READ,
    "/api/v1/analyses": _READ,
    "/api/v1/evidence": _READ,
    "/api/v1/lineage/batch": {"POST": Scope.INGEST},
    # GraphiQL sends the key of its user, and every field has a rule of its own.
    "/graphql": {"GET": OPEN, "POST": OPEN},
    **{f"{prefix}/lineage/trace": {"POST": Scope.INGEST} for prefix in ("", "/v1")},
    **{f"{prefix}/lineage/impact": {"POST": Scope.READ} for prefix in ("", "/v1")},
    **{f"{prefix}/lineage/{{id}}": _READ for prefix in ("", "/v1")},
    **{f"/api/v1{path}": _READ for path in _MARQUEZ},
    "/api/atlas/v2/lineage/{guid}": _READ,
    "/api/atlas/v2/lineage/uniqueAttribute/type/{typeName}": _READ,
    "/api/atlas/v2/entity/guid/{guid}/header": _READ,
    "/cypher": {"GET": Scope.CYPHER, "POST": Scope.CYPHER},
    "/cypher/{name}": {"POST": Scope.CYPHER},
    "/openapi.json": {"GET": OPEN},
    "/access/keys": {"GET": Scope.ADMIN},
    "/access/log": {"GET": Scope.ADMIN},
}

_QUERIES = (
    "aliases",
    "answer",
    "answers",
    "columnLineage",
    "conformance",
    "coverage",
    "dataset",
    "datasets",
    "failedRuns",
    "freshness",
    "impact",
    "job",
    "jobs",
    "lineage",
    "lineageTable",
    "namespaces",
    "node",
    "nodesByName",
    "ownedBy",
    "owners",
    "quality",
    "replayPlan",
    "rootCause",
    "run",
    "runs",
    "schemaDiff",
    "search",
    "trace",
    "unusedDatasets",
    "usage",
)
_REGISTRATIONS = ("registerAnswer", "registerArtifact", "registerPipelineRun", "registerSource")
FIELDS: dict[str, Scope] = {
    **{f"Query.{field}": Scope.READ for field in _QUERIES},
    **{f"Subscription.{field}": Scope.READ for field in ("failures", "runEvents")},
    **{f"Mutation.{field}": Scope.INGEST for field in _REGISTRATIONS},
}


def rule_of_route(method: str, path: str) -> Rule:
    """Return the rule of a request; HEAD has the rule of GET."""
    rules = ROUTES.get(path if path == "/" else path.rstrip("/"), {})
    return rules.get("GET" if method == "HEAD" else method, Scope.ADMIN)


def rule_of_field(field: str) -> Scope:
    """Return the scope that a root field of GraphQL requires, for example `Query.lineage`."""
    return FIELDS.get(field, Scope.ADMIN)
