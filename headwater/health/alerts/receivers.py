"""Who receives alerts: webhooks, Slack, PagerDuty, an Alertmanager, and what `apprise` reaches.

They come from three settings: `HEADWATER_ALERT_WEBHOOKS`, `HEADWATER_ALERTMANAGER` and the TOML
file of `HEADWATER_ALERT_RECEIVERS`. An address may contain a secret, so no message, list or log
shows one.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from headwater.errors import NotFoundError, SettingsError
from headwater.health.findings.models import Tier
from headwater.lineage.node_names import NodeName
from headwater.schema.settings_files import read_settings_file
from headwater.schema.visibility import ALL, Visibility
from headwater.settings import Settings

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"
_SEPARATORS = re.compile(r"[\s,]+")


class Kind(StrEnum):
    """How a receiver is addressed."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    PAGERDUTY = "pagerduty"
    ALERTMANAGER = "alertmanager"
    APPRISE = "apprise"


# A person is woken by P1 only, and reads P1 and P2 in a chat.
_TIERS = {
    Kind.PAGERDUTY: (Tier.P1,),
    Kind.SLACK: (Tier.P1, Tier.P2),
    Kind.APPRISE: (Tier.P1, Tier.P2),
}


class Receiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A receiver of alerts.

    tiers: the tiers that it receives; None: those usual for its kind.
    owners: only alerts with one of these owners; empty: all.
    namespaces: patterns of the namespaces that it may see. The names of other nodes are hidden.
    key: the name of an API key, whose namespaces count instead.
    routing_key: of PagerDuty.
    secret: with it, each request of a webhook has a signature.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
    kind: Kind
    url: str = ""
    tiers: tuple[Tier, ...] | None = None
    owners: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = (ALL,)
    key: str = ""
    routing_key: str = ""
    secret: str = ""

    def __repr__(self) -> str:
        return f"Receiver({self.name!r}, {self.kind.value})"

    @property
    def wanted_tiers(self) -> tuple[Tier, ...]:
        """Return the tiers of the alerts that it receives."""
        return _TIERS.get(self.kind, tuple(Tier)) if self.tiers is None else self.tiers

    @property
    def visibility(self) -> Visibility:
        """Return what it may see, if no key decides that."""
        return Visibility(self.namespaces)

    @property
    def follows_each_change(self) -> bool:
        """Return True if it groups and repeats alerts itself, so that each change goes out at
        once."""
        return self.kind is Kind.ALERTMANAGER

    def wants(self, tier: Tier, owners: Iterable[str]) -> bool:
        """Return True for alerts of this tier with these owners."""
        return tier in self.wanted_tiers and (
            not self.owners or not set(self.owners).isdisjoint(owners)
        )

    def may_see(self, subject: NodeName) -> bool:
        """Return False if a finding on this node is surely hidden from it."""
        return (
            bool(self.key)
            or subject.namespace is None
            or self.visibility.includes(subject.namespace)
        )


class _File(msgspec.Struct, forbid_unknown_fields=True):
    receiver: tuple[Receiver, ...] = ()


def load_receivers(settings: Settings) -> tuple[Receiver, ...]:
    """Return the receivers that the settings name. Raises SettingsError for a malformed one."""
    webhooks = dict.fromkeys(filter(None, _SEPARATORS.split(settings.alert_webhooks)))
    found = [Receiver(_webhook_name(url), Kind.WEBHOOK, url) for url in webhooks]
    if settings.alertmanager:
        found.append(Receiver("alertmanager", Kind.ALERTMANAGER, settings.alertmanager))
    if settings.alert_receivers_path is not None:
        found += _read_file(settings.alert_receivers_path)
    for receiver in found:
        _validate(receiver)
    names = [receiver.name for receiver in found]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"two receivers of alerts have the name {name!r}")
    return tuple(found)


def find_receiver(receivers: Iterable[Receiver], name: str) -> Receiver:
    """Return a receiver by its name. Raises NotFoundError."""
    by_name = {receiver.name: receiver for receiver in receivers}
    if name not in by_name:
        names = ", ".join(sorted(by_name)) or "none"
        raise NotFoundError(
            f"no receiver of alerts has the name {name!r}", hint=f"There are: {names}."
        )
    return by_name[name]


def _webhook_name(url: str) -> str:
    """Return a name that stays when the order of the addresses changes, without their secrets."""
    try:
        hostname = urlsplit(url).hostname or ""
    except ValueError:
        hostname = ""
    host = re.sub(r"[^A-Za-z0-9.-]", "", hostname)[:60]
    return f"webhook-{host}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"


def _read_file(path: Path) -> Iterable[Receiver]:
    setting = "HEADWATER_ALERT_RECEIVERS"
    try:
        content: Any = tomllib.loads(read_settings_file(path))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{setting}: {path}: {error}") from error
    try:
        return msgspec.convert(content, _File).receiver
    except msgspec.ValidationError as error:
        raise SettingsError(
            f"{setting}: {path}: {error}", hint="docs/how-to/alerts.md lists the fields."
        ) from error


def _validate(receiver: Receiver) -> None:
    """Raise SettingsError if a receiver lacks its address, or has a malformed one."""
    if receiver.kind is Kind.PAGERDUTY and not receiver.routing_key:
        raise SettingsError(f"the receiver {receiver.name!r} needs a `routing_key`")
    if receiver.kind is Kind.APPRISE:
        is_valid = "://" in receiver.url
    elif receiver.kind is Kind.PAGERDUTY and not receiver.url:
        is_valid = True
    else:
        is_valid = _is_http(receiver.url)
    if not is_valid:
        raise SettingsError(
            f"the receiver of alerts {receiver.name!r} has a malformed address",
            hint="Write a complete one: https://host/path.",
        )


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # A space or control character would fail with each request.
        is_word = url.isprintable() and " " not in url
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        return is_word and is_web and parts.port != 0
    except ValueError:
        return False
