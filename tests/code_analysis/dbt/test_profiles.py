"""Connections of dbt's profiles, with their templates rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.code_analysis.dbt.profiles import Connection, read_connection
from headwater.errors import QueryError
from tests.test_bounded_yaml import merge_bomb

PROFILES = """
shop:
  target: "{{ env_var('DBT_TARGET', 'dev') }}"
  outputs:
    dev: {type: postgres, host: "{{ env_var('HOST') }}", port: 5432, pass: "{{ env_var('NONE') }}"}
    prod: {type: postgres, host: prod, port: "{{ env_var('PORT') | as_number }}"}
config: {send_anonymous_usage_stats: false}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "profiles.yml"
    path.write_text(PROFILES)
    return path


def test_only_the_fields_that_are_read_are_rendered(path: Path) -> None:
    connection = read_connection(path, "", "", {"HOST": "db"})
    assert (connection.get("host"), connection.get("port"), connection.get("path", "-")) == (
        "db",
        "5432",
        "-",
    )
    with pytest.raises(QueryError, match="needs the environment variable NONE"):
        connection.get("pass")


@pytest.mark.parametrize(
    ("target", "environment"),
    [("prod", {"PORT": "6000"}), ("", {"PORT": "6000", "DBT_TARGET": "prod"})],
)
def test_the_target(path: Path, target: str, environment: dict[str, str]) -> None:
    connection = read_connection(path, "shop", target, environment)
    assert (connection.get("host"), connection.get("port")) == ("prod", "6000")


@pytest.mark.parametrize(
    ("profile", "target", "message"),
    [
        ("store", "", "no profile 'store'; it has shop"),
        ("shop", "ci", "no target 'ci'; it has dev, prod"),
    ],
)
def test_what_is_missing_is_named(path: Path, profile: str, target: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read_connection(path, profile, target, {})


def test_a_template_cannot_leave_its_sandbox(path: Path) -> None:
    path.write_text("p: {outputs: {default: {host: \"{{ ''.__class__.__mro__ }}\"}}}")
    with pytest.raises(QueryError, match="cannot be rendered"):
        read_connection(path, "", "", {}).get("host")


def test_a_file_that_is_not_yaml(path: Path) -> None:
    path.write_text("{")
    with pytest.raises(QueryError, match="cannot be read"):
        read_connection(path, "", "", {})


@pytest.mark.timeout(30)
def test_profiles_whose_aliases_stand_for_millions_of_values_are_refused(path: Path) -> None:
    path.write_text(PROFILES + merge_bomb(12))
    with pytest.raises(QueryError, match="its aliases stand for more than"):
        read_connection(path, "", "", {})


def test_targets_may_share_fields_by_an_alias(path: Path) -> None:
    path.write_text("shop: {outputs: {dev: &dev {host: a, port: 1}, prod: {<<: *dev, host: b}}}")
    connection = read_connection(path, "shop", "prod", {})
    assert (connection.get("host"), connection.get("port")) == ("b", "1")


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ 'a' * 9999999999 }}", "takes more than 1500 MiB of memory"),
        ("{{ 'a' * 9999999 }}", "renders more than 4,000 characters"),
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "takes more than 2 s of processor time",
        ),
        ("{{ " + "(" * 1_900 + "1" + ")" * 1_900 + " }}", "cannot be rendered"),
        ("{% if 1 %}" * 150 + "{% endif %}" * 150, "cannot be rendered"),
        ("{{ env_var([]) }}", "cannot be rendered"),
        ("{{ 'x'.y.z }}", "cannot be rendered"),
        ("{{ 'é' }}" * 1_000, "is longer than 4,000 characters"),
        ("h" * 4_001, "is longer than 4,000 characters"),
    ],
)
def test_a_value_has_bounds(template: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem) as refused:
        Connection({"host": template}, {}).get("host")
    assert len(refused.value.message) < 500
    assert "--namespace" in refused.value.hint
    assert Connection({"host": "{{ env_var('H') }}"}, {"H": "db"}).get("host") == "db"


def test_a_withheld_variable_is_not_rendered() -> None:
    connection = Connection(
        {"host": "{{ env_var('DB_PASS' ~ 'WORD', 'db') }}"}, {"DB_PASSWORD": None}
    )
    with pytest.raises(QueryError, match="DB_PASSWORD, which may be a secret"):
        connection.get("host")
