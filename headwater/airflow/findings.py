"""An operator that stops a DAG while findings are open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk import BaseOperator

from headwater.airflow.api import TIERS, client_of, open_findings

LISTED_MAX = 10


class NoFindingsOperator(BaseOperator):
    """An operator that fails while findings of the given nodes, rules and tiers are open.

    Put it before a task that must not publish doubtful data. The message lists the findings, the
    most urgent first. A retry succeeds once they have ended.

    Args:
        nodes: Names or urns of datasets, jobs or answers; none means every node.
        rules: Names of rules, for example `failed-check`; none means every rule.
        tiers: P1, P2, P3; by default all.
        conn_id: An Airflow connection: its host is the address, its password the API key.
        url: Address of the API; by default HEADWATER_URL or the profile.
    """

    template_fields = ("nodes", "rules", "tiers", "url")

    def __init__(
        self,
        *,
        nodes: Sequence[str] = (),
        rules: Sequence[str] = (),
        tiers: Sequence[str] = TIERS,
        conn_id: str | None = None,
        url: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.nodes = nodes
        self.rules = rules
        self.tiers = tiers
        self.conn_id = conn_id
        self.url = url

    def execute(self, context: Any) -> None:  # noqa: ARG002
        """Fail if a finding is open."""
        client = client_of(self.conn_id, self.url)
        found = open_findings(client, nodes=self.nodes, rules=self.rules, tiers=self.tiers)
        if found:
            listed = [str(one) for one in found[:LISTED_MAX]]
            more = len(found) - len(listed)
            if more:
                listed.append(f"and {more} more")
            word = "finding is" if len(found) == 1 else "findings are"
            raise AirflowException(f"{len(found)} {word} open: {'; '.join(listed)}")
        self.log.info("no finding is open")
