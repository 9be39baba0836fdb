"""The enumerations of GraphQL have the values that the questions return."""

from __future__ import annotations

from headwater.graphql.types.enums import Direction, NodeKind, RootCauseKind, RunStatus
from headwater.lineage.node_names import HIDDEN_KIND
from headwater.lineage.questions.candidates import WEIGHTS
from headwater.lineage.traversal.request import DIRECTIONS
from headwater.schema.graph import NODE_KINDS
from headwater.schema.headwater_facets import STATUS_EVENT_TYPES


def test_directions() -> None:
    assert [direction.value for direction in Direction] == list(DIRECTIONS)


def test_signs_of_a_root_cause_keep_their_order() -> None:
    assert [kind.name for kind in RootCauseKind] == list(WEIGHTS)


def test_kinds_of_nodes() -> None:
    kinds = {*NODE_KINDS.values(), HIDDEN_KIND} - {"SCHEMA_VERSION"}
    assert {kind.name for kind in NodeKind} == kinds


def test_every_status_that_a_client_can_send_has_a_value() -> None:
    sent = {*STATUS_EVENT_TYPES.values()} - {"START"}
    assert {status.value for status in RunStatus} == sent | {"ABANDONED"}
