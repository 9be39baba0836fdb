"""Hard secrets are redacted at every place of an event, and a second redaction changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.ingest.receive.personal_values import redaction_classes
from headwater.ingest.receive.redact import Redactor
from headwater.settings import Settings
from tests.ingest.receive.hard_values import FACETS, TEXTS

redact = Redactor(b"a key of the tests", redaction_classes(Settings().redaction_classes)).redact


def places(text: str) -> list[dict[str, Any]]:
    """Return events that have a text at each place where producers send texts."""
    run_facets: list[dict[str, Any]] = [
        {"errorMessage": {"message": text, "stackTrace": f"X: {text}\n\tat a.B(C.java:1)"}},
        {"environmentVariables": {"environmentVariables": [{"name": "CONF", "value": text}]}},
        {"spark_properties": {"properties": {"spark.driver.options": text}}},
        {"custom": {"deep": [[text], {"deeper": {"x": text}}]}},
        {"nested": {"json": json.dumps({"inner": json.dumps({"x": text})})}},
    ]
    job_facets: list[dict[str, Any]] = [
        {"sql": {"query": f"SELECT 1 -- {text}"}},
        {"documentation": {"description": text}},
        {"sourceCode": {"sourceCode": f"x = 1\n# {text}"}},
    ]
    return [
        *({"run": {"runId": "r", "facets": facet}} for facet in run_facets),
        *({"job": {"namespace": "n", "name": "j", "facets": facet}} for facet in job_facets),
    ]


@pytest.mark.parametrize(("text", "secret"), TEXTS, ids=[text for text, _ in TEXTS])
def test_a_hard_value_in_a_text_is_redacted_at_every_place(text: str, secret: str) -> None:
    whole = text.replace("SECRET", secret)
    kept = []
    for event in places(whole):
        clean = redact(json.dumps(event).encode())
        if secret.encode() in clean or json.dumps(secret)[1:-1].encode() in clean:
            kept.append(clean)
        assert redact(clean) == clean
        json.loads(clean)
    assert kept == []


@pytest.mark.parametrize(("facet", "secret"), FACETS, ids=[str(facet) for facet, _ in FACETS])
def test_a_hard_value_of_a_property_is_redacted(facet: dict[str, Any], secret: str) -> None:
    clean = redact(json.dumps({"run": {"runId": "r", "facets": {"x": facet}}}).encode())
    assert secret.encode() not in clean
    assert redact(clean) == clean
    json.loads(clean)
