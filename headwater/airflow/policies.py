"""An operator that stops a DAG before an action that policies refuse."""

from __future__ import annotations

from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk import BaseOperator

from headwater.airflow.api import address_of, client_of
from headwater.errors import UnavailableError
from headwater.policy_requests import ask_policies


class PolicyOperator(BaseOperator):
    """An operator that fails if policies refuse an action on a dataset.

    Put it before the task that acts. The message names the policies and the active consumers. A
    retry succeeds once a steward has approved, or the reason has ended.

    Args:
        action: `drop`, `delete`, `change`, `write`, `inference`, `export` or `read`.
        dataset: Name or urn of the dataset. A dataset in no lineage has only a urn.
        purpose: What the data is for.
        fail_if_unavailable: Fail also if the API does not answer.
        conn_id: An Airflow connection: its host is the address, its password the API key.
        url: Address of the API; by default HEADWATER_URL or the profile.
    """

    template_fields = ("action", "dataset", "purpose", "url")

    def __init__(
        self,
        *,
        action: str,
        dataset: str,
        purpose: str = "",
        fail_if_unavailable: bool = True,
        conn_id: str | None = None,
        url: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.action = action
        self.dataset = dataset
        self.purpose = purpose
        self.fail_if_unavailable = fail_if_unavailable
        self.conn_id = conn_id
        self.url = url

    def execute(self, context: Any) -> list[str]:
        """Fail if the action is refused; return the names of policies that only warn."""
        actor = f"airflow:{context['dag'].dag_id}.{self.task_id}"
        try:
            urn = self.dataset
            if not urn.startswith("dataset:"):
                urn = client_of(self.conn_id, self.url).resolve(self.dataset)
            address, key = address_of(self.conn_id, self.url)
            request = {
                "action": self.action,
                "urn": urn,
                "purpose": self.purpose,
                "actor": actor,
            }
            answer = ask_policies(address, request, api_key=key)
        except UnavailableError as error:
            if self.fail_if_unavailable:
                raise AirflowException(f"policies are not known: {error.message}") from error
            self.log.warning("policies are not known: %s", error.message)
            return []
        if not answer.allowed:
            raise AirflowException(
                f"policies refuse to {self.action} {self.dataset}: {answer.explain()}"
            )
        if answer.violations:
            self.log.warning("policies warn: %s", answer.explain())
        return [str(one["policy"]) for one in answer.violations]
