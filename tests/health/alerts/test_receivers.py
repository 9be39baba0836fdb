"""The receivers of the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import NotFoundError, SettingsError
from headwater.health.alerts.receivers import find_receiver, load_receivers
from headwater.health.findings.models import Tier
from headwater.settings import Settings, load

FILE = """
[[receiver]]
name = "on-call"
kind = "pagerduty"
routing_key = "r0uting"

[[receiver]]
name = "team"
kind = "slack"
url = "https://hooks.example.com/services/t0ken"
tiers = ["P1"]
owners = ["etl"]
namespaces = ["etl", "db*"]
"""


def test_receivers_come_from_three_settings(tmp_path: Path) -> None:
    file = tmp_path / "receivers.toml"
    file.write_text(FILE, encoding="utf-8")
    settings = Settings(
        alert_webhooks="https://a.example.com/x, http://127.0.0.1:9/y",
        alertmanager="http://127.0.0.1:9093/",
        alert_receivers=str(file),
    )
    found = load_receivers(settings)
    assert [one.kind.value for one in found] == [
        "webhook", "webhook", "alertmanager", "pagerduty", "slack",
    ]  # fmt: skip
    assert found[0].name.startswith("webhook-a.example.com-")
    assert [one.wanted_tiers for one in found[2:]] == [tuple(Tier), (Tier.P1,), (Tier.P1,)]
    swapped = load_receivers(
        Settings(alert_webhooks="http://127.0.0.1:9/y https://a.example.com/x")
    )
    assert {one.name for one in swapped} == {one.name for one in found[:2]}
    team = find_receiver(found, "team")
    assert (team.wants(Tier.P1, ["etl"]), team.wants(Tier.P1, ["b"])) == (True, False)
    assert team.visibility.includes("db-2")
    for secret in ("t0ken", "r0uting", "hooks"):
        assert secret not in repr(found) + repr(settings)
    with pytest.raises(NotFoundError, match="'nobody'"):
        find_receiver(found, "nobody")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[receiver]]\nname = 'a'\nkind = 'fax'\n", "Invalid enum value 'fax'"),
        ("[[receiver]]\nname = 'a b'\nkind = 'slack'\n", "matching regex"),
        ("[[receiver]]\nname = 'a'\nkind = 'slack'\nurl = 'ftp://x'\n", "malformed address"),
        ("[[receiver]]\nname = 'a'\nkind = 'pagerduty'\n", "needs a `routing_key`"),
        ("[[receiver]]\nname = 'a'\nkind = 'slack'\nurl = 'http://x'\n" * 2, "the name 'a'"),
        ("[[receiver]]\nname = 'a'\nkind = 'slack'\ncolour = 1\n", "unknown field `colour`"),
        ("[receiver", "receivers.toml"),
        (f"a = {'[' * 5_000}{']' * 5_000}", "receivers.toml"),
        (f"a = {'9' * 5_000}", "receivers.toml"),
    ],
)
def test_a_malformed_receiver_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "receivers.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        load_receivers(Settings(alert_receivers=str(file)))


@pytest.mark.parametrize("url", ["ftp://me:secret@x", "https://[::1", "https://me:s\u2100@x"])
def test_a_malformed_webhook_is_refused_without_printing_it(url: str) -> None:
    with pytest.raises(SettingsError, match="has a malformed address") as caught:
        load_receivers(Settings(alert_webhooks=url))
    assert "me:" not in caught.value.message


def test_an_address_that_no_request_can_have_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "receivers.toml"
    for path in ("a SECRET", r"a\tSECRET", r"a\u0000SECRET"):
        file.write_text(f'[[receiver]]\nname = "a"\nkind = "slack"\nurl = "https://x/{path}"\n')
        with pytest.raises(SettingsError, match="has a malformed address") as caught:
            load_receivers(Settings(alert_receivers=str(file)))
        assert "SECRET" not in str(caught.value)


def test_the_address_of_the_page_must_be_one() -> None:
    with pytest.raises(SettingsError, match="HEADWATER_PUBLIC_URL"):
        load({"HEADWATER_PUBLIC_URL": "headwater.example.com"})
