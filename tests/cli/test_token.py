"""`headwater token check` and the check of `doctor`, against an issuer on a real socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headwater.cli import app
from headwater.cli.doctor import Check, _checked, _provider
from headwater.errors import SettingsError, UnauthorizedError
from headwater.settings import Settings, load
from tests.access.oidc.issuer import AUDIENCE, Issuer, serving_issuer


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with serving_issuer() as issuer:
        yield issuer


def run(home: Path, issuer: str, *words: str, sent: str | None = None) -> Result:
    environment = {"HEADWATER_OIDC_ISSUER": issuer, "HEADWATER_OIDC_AUDIENCE": AUDIENCE}
    return CliRunner().invoke(
        app, ["token", "check", *words, "--home", str(home)], env=environment, input=sent
    )


def test_a_token_is_explained_and_never_printed(tmp_path: Path, issuer: Issuer) -> None:
    token = issuer.token(groups=["headwater-steward"], name="Ann Ray")
    for words, sent in (([token], None), (["-"], f"{token}\n"), ([], token)):
        answer = run(tmp_path, issuer.url, *words, "--json", sent=sent)
        found = json.loads(answer.stdout)
        del found["expires"]
        assert found == {
            "principal": f"{issuer.url}#ann",
            "display_name": "Ann Ray",
            "roles": ["steward"],
            "scopes": ["read", "steward"],
            "namespaces": ["*"],
            "writable_namespaces": ["*"],
        }
        assert token not in answer.output
    text = run(tmp_path, issuer.url, token).stdout
    assert "roles: steward\nscopes: read, steward\n" in text
    nobody = run(tmp_path, issuer.url, issuer.token(groups=None)).stdout
    assert "roles: none\nscopes: none\nnamespaces: none\n" in nobody


def test_a_refused_token_and_absent_settings_are_named(tmp_path: Path, issuer: Issuer) -> None:
    token = issuer.token(aud="grafana")
    answer = run(tmp_path, issuer.url, token)
    assert isinstance(answer.exception, UnauthorizedError)
    assert "for another audience" in answer.exception.message
    assert token not in answer.output
    answer = CliRunner().invoke(app, ["token", "check", token, "--home", str(tmp_path)])
    assert isinstance(answer.exception, SettingsError)


def checked(settings: Settings) -> Check:
    return _checked("openid provider", lambda: _provider(settings))


def test_doctor_reads_the_provider(issuer: Issuer) -> None:
    found = {"HEADWATER_OIDC_ISSUER": issuer.url, "HEADWATER_OIDC_AUDIENCE": AUDIENCE}
    assert checked(load({})).ok
    good = checked(load(found))
    assert (good.ok, good.found) == (True, f"1 key at {issuer.url}")
    page = {"HEADWATER_OIDC_CLIENT_ID": "page", "HEADWATER_PUBLIC_URL": "http://localhost:8000"}
    bad = checked(load({**found, **page}))
    assert not bad.ok
    assert "no authorization_endpoint, token_endpoint" in bad.found
    away = checked(load({**found, "HEADWATER_OIDC_ISSUER": "http://127.0.0.1:1"}))
    assert not away.ok
    assert "does not answer" in away.found
