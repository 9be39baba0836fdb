"""The history of the sections on policies, contracts, personal data and models.

    crm (mail: pii=email) -> copy -> contacts (the values as they are)
                          -> hash -> hashed (masked)
                          -> filter -> counts (only decides which rows exist)
                          -> opaque -> blob (sends no columns)
    orders: contract orders 1.0.0, then 2.0.0; the run r2 makes `id` a text
    ledger -> sum_a -> sales (certified) and ledger -> sum_b -> sales_copy: the same columns
    crm -> train -> churn: a model with two versions
    vault (phone: pii=phone, in the namespace secret) -> dial -> calls

`hostile_history` has a model with hostile texts everywhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwater.governance.contracts.compile import compile_contract, contract_event
from headwater.governance.contracts.names import NamedDataset
from headwater.governance.contracts.standard import read_document
from headwater.schema.headwater_facets import approval_event
from tests.event_builders import columns, dataset, dataset_event, run_event, schema
from tests.governance.personal_data.histories import COPY, FILTER, MASK, lineage, moved, tagged
from tests.run_builders import Event, at
from tests.ui.hostile import LONG, NAME

POLICIES = """policies:
  - name: owners
    title: Somebody answers for each dataset
    rule: required-owners
    match: {namespace: db}
  - name: no-blobs
    title: No blobs
    description: Blobs cannot be searched for personal data.
    on: dataset
    severity: P1
    enforce: block
    match: {name: blob}
    condition: node.description == ''
    message: "{node.name} is a blob without a description"
    owners: [team:privacy]
    notify: [team:legal]
"""
CONTRACT: Event = {
    "apiVersion": "v3.1.0",
    "kind": "DataContract",
    "id": "orders",
    "name": "Orders of the shop",
    "version": "1.0.0",
    "status": "active",
    "contractCreatedTs": at(0),
    "team": [{"username": "team:shop", "role": "owner"}],
    "servers": [
        {
            "server": "prod",
            "type": "custom",
            "customProperties": [{"property": "openlineageNamespace", "value": "db"}],
        }
    ],
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "id", "logicalType": "integer"},
                {"name": "day", "logicalType": "date"},
            ],
        }
    ],
}
WITHOUT_DAY: list[Event] = [
    {
        "name": "orders",
        "properties": [
            {"name": "id", "logicalType": "integer"},
            {"name": "amount", "logicalType": "number"},
        ],
    }
]
MODEL: Event = {"datasetType": {"datasetType": "MODEL"}}


def write_policies(folder: Path) -> Path:
    """Write the policies that are in force; return their directory."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "estate.yaml").write_text(POLICIES, encoding="utf-8")
    return folder


def contract(table: str = "orders", /, **more: Any) -> Event:
    """Return the event of a version of the contract of a dataset."""
    document = read_document(json.dumps({**CONTRACT, **more}, ensure_ascii=False))
    named = NamedDataset("db", table, "orders")
    return contract_event(named, compile_contract(document, "orders"), at(1))


def history() -> list[Event]:
    """Return the events."""
    return [*_personal_data(), *_contracts(), *_rivals(), *_model(), *_hidden()]


def _personal_data() -> list[Event]:
    return [
        dataset_event("crm", 0, schema(mail="string", id="int")),
        tagged("mail:pii=email", name="crm"),
        moved("copy", "crm", "contacts", ("mail", "crm.mail", COPY), fields=("mail", "day")),
        moved("hash", "crm", "hashed", ("mail", "crm.mail", MASK), fields=("mail",)),
        moved("filter", "crm", "counts", ("n", "crm.mail", FILTER), fields=("n",)),
        moved("opaque", "crm", "blob", fields=("x",)),
        approval_event(
            "db",
            "blob",
            policy="owners",
            reason="Nobody wants it.",
            until="2026-01-02",
            by="ann",
            event_time=at(5),
        ),
    ]


def _contracts() -> list[Event]:
    newer: Event = {"version": "2.0.0", "contractCreatedTs": at(40), "schema": WITHOUT_DAY}
    kept, broken = schema(id="int", day="date"), schema(id="string", day="date")
    return [
        contract(),
        contract(**newer),
        run_event("o1", minute=2, job="load", outputs=[dataset("orders", kept)]),
        run_event("o2", minute=10, job="load", outputs=[dataset("orders", broken)]),
        run_event("o3", minute=12, job="report", inputs=["orders"], outputs=["sums"]),
    ]


def _rivals() -> list[Event]:
    both = schema(day="date", revenue="decimal")
    return [
        run_event("a", minute=1, job="sum_a", inputs=["ledger"], outputs=[dataset("sales", both)]),
        run_event(
            "b", minute=1, job="sum_b", inputs=["ledger"], outputs=[dataset("sales_copy", both)]
        ),
        tagged("certified", name="sales", minute=2),
    ]


def _hidden() -> list[Event]:
    """Return the events of `calls`, which comes from another namespace."""
    values = lineage(("phone", "vault.phone", COPY), namespace="secret")
    calls = dataset("calls", {**schema(phone="string"), **values})
    vault = dataset("vault", schema(phone="string"), namespace="secret")
    return [
        tagged("phone:pii=phone", name="vault", namespace="secret"),
        run_event("d", minute=3, job="dial", inputs=[vault], outputs=[calls]),
    ]


def hostile_history() -> list[Event]:
    """Return a model with two versions, a broken contract, approvals and classes of hostile texts."""
    table, column = f"model {NAME}", f"column {NAME}"
    properties = [{"name": column, "logicalType": "integer"}]
    shaped = [{"name": "orders", "properties": properties}]
    named = {"id": NAME, "name": LONG[:3_000], "team": [{"username": NAME, "role": NAME}]}
    tags = {"tags": {"tags": [{"key": "pii", "value": NAME, "field": column, "source": "test"}]}}
    events = [
        contract(table, **named, schema=shaped),
        contract(table, **named, version=NAME, contractCreatedTs=at(50)),
        approval_event("db", table, policy=NAME, reason=LONG, by=NAME, event_time=at(5)),
    ]
    for number in (1, 2):
        facets = {**MODEL, **schema(**{column: NAME}), **tags, "version": {"datasetVersion": NAME}}
        parameters = [{"key": NAME, "name": NAME, "value": f"{LONG}{number}"}]
        events.append(
            run_event(
                f"hostile-model-{number}",
                minute=60 + number,
                job=f"train {NAME}",
                inputs=[f"from {NAME}"],
                outputs=[dataset(table, facets)],
                facets={"executionParameters": {"parameters": parameters}},
            )
        )
    return events


def _trained(version: str, **types: str) -> Event:
    origins = columns(**{name: [("crm", "id")] for name in types if name != "constant"})
    return dataset(
        "churn",
        {**MODEL, **schema(**types), **origins, "version": {"datasetVersion": version}},
    )


def _training(depth: str, auc: float, digest: str) -> Event:
    data = [{"namespace": "db", "name": "crm", "digest": digest}]
    parameters = [{"key": "depth", "name": "depth", "value": depth}]
    return {
        "executionParameters": {"parameters": parameters},
        "headwater_mlflow": {"metrics": {"auc": auc}, "data": data},
    }


def _model() -> list[Event]:
    return [
        run_event(
            "t1",
            minute=20,
            job="train",
            inputs=["crm"],
            outputs=[_trained("1", tenure="long")],
            facets=_training("3", 0.7, "aa"),
        ),
        run_event(
            "t2",
            minute=30,
            job="train",
            inputs=["crm"],
            outputs=[_trained("2", tenure="double", constant="long")],
            facets=_training("5", 0.8, "bb"),
        ),
    ]
