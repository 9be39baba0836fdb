"""Secrets in the shapes of configuration files, commands and addresses, and innocent texts beside.

The texts are made from a seed. They are other shapes than those of `hard_values`, so they measure
the redaction and do not only repeat its rules.
"""

from __future__ import annotations

import base64
import json
import random
import string
from dataclasses import dataclass

from tests.ingest.receive.secret_templates import PERSONS, TEMPLATES

WORDS = ("orders", "customers", "flights", "sales_daily", "dim_store", "web_events", "stg_users")
HOSTS = ("db-1.internal", "warehouse.example.com", "10.0.4.17", "cluster-a.eu-west-1.example.net")
_ALNUM = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Planted:
    """A text of a class, and the secret in it; "" for an innocent text."""

    kind: str
    text: str
    secret: str


def planted(seed: int) -> list[Planted]:
    """Return every template with secrets made from a seed."""
    chance = random.Random(seed)
    found = []
    for kind, templates in (TEMPLATES | PERSONS).items():
        for template in templates:
            values = _values(chance)
            used = [value for name, value in values.items() if f"{{{name}}}" in template]
            found.append(Planted(kind, template.format(**values), max(used, key=len)))
    return found


def _values(chance: random.Random) -> dict[str, str]:
    def pick(letters: str, count: int) -> str:
        return "".join(chance.choices(letters, k=count))

    def digit_and(letters: str, count: int) -> str:
        return pick(letters, count - 1) + pick(string.digits, 1)

    card = _card(chance)
    iban = _iban(chance)
    user = pick(string.ascii_lowercase, 8)
    return {
        "p": pick(_ALNUM, 5) + pick("-_.!", 1) + digit_and(_ALNUM, 6),
        "w": "aK" + digit_and(_ALNUM, 14),
        "r": pick(_ALNUM, 14),
        "x": pick("0123456789abcdef", 16),
        "b": base64.b64encode(chance.randbytes(32)).decode().rstrip("="),
        "j": base64.urlsafe_b64encode(chance.randbytes(64)).decode().rstrip("="),
        "u": pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "v": pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 11),
        "l": pick(string.ascii_letters, 16),
        "q": pick("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        "h": pick("0123456789abcdef", 8),
        "m": f"{user}.{pick(string.ascii_lowercase, 5)}@mail.example.com",
        "k": f"{user}%40mail.example.com",
        "t": f"{user}+tag@example.co.uk",
        "i": f"{user}@müller.example",
        "c": card,
        "d": " ".join(card[at : at + 4] for at in range(0, 16, 4)),
        "e": "-".join(card[at : at + 4] for at in range(0, 16, 4)),
        "a": iban,
        "g": " ".join(iban[at : at + 4] for at in range(0, len(iban), 4)),
        "n": f"901820{chance.randint(10, 99)}",
        "s": f"219-09-99{chance.randint(10, 99)}",
    }


def _card(chance: random.Random) -> str:
    digits = [4] + [chance.randint(0, 9) for _ in range(14)]
    total = sum(
        sum(divmod(digit * 2, 10)) if index % 2 == 0 else digit
        for index, digit in enumerate(digits)
    )
    return "".join(map(str, digits)) + str(-total % 10)


def _iban(chance: random.Random) -> str:
    account = "".join(chance.choices(string.digits, k=18))
    check = 98 - int(f"{account}131400") % 97
    return f"DE{check:02d}{account}"


def places(text: str) -> list[dict[str, object]]:
    """Return events with a text at each of the places at which producers send texts."""
    run_facets: list[dict[str, object]] = [
        {"errorMessage": {"message": text}},
        {"errorMessage": {"stackTrace": f"java.lang.Exception: {text}\n\tat a.B(C.java:1)"}},
        {"environmentVariables": {"environmentVariables": [{"name": "CONF", "value": text}]}},
        {"spark_properties": {"properties": {"spark.driver.extraJavaOptions": text}}},
        {"custom": {"deep": [[text], {"deeper": {"x": text}}]}},
        {"nested": {"json": json.dumps({"inner": json.dumps({"x": text})})}},
        {"processing": {"args": ["run", text]}},
    ]
    job_facets: list[dict[str, object]] = [
        {"sql": {"query": f"SELECT 1 /* {text} */"}},
        {"documentation": {"description": f"How to run: {text}"}},
        {"sourceCode": {"sourceCode": f"x = 1\n# {text}"}},
    ]
    events: list[dict[str, object]] = [
        {"run": {"runId": "r", "facets": facet}} for facet in run_facets
    ]
    events += [{"job": {"namespace": "n", "name": "j", "facets": facet}} for facet in job_facets]
    return events
