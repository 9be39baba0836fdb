"""Addresses of the page, for the links in alerts. ui/static/app/router.js reads them."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from headwater.health.alerts.headlines import subject_name
from headwater.health.findings.models import Finding
from headwater.health.findings.runbooks import runbook_url

_PAGES = {"DATASET": "datasets", "JOB": "jobs", "ANSWER": "answers", "PIPELINE_RUN": "runs"}


def links_of(finding: Finding, public_url: str) -> dict[str, str]:
    """Return the addresses of the page of a node, its lineage, and the runbook of the rule.

    There are none without the public address of the page.
    """
    if not public_url:
        return {}
    subject = finding.episode.subject
    found = {"runbook": runbook_url(finding.episode.rule)}
    kind = subject_name(subject).kind
    if kind in _PAGES:
        page = subject.partition(":")[2] if kind in ("ANSWER", "PIPELINE_RUN") else subject
        found |= {
            "page": f"/{_PAGES[kind]}/{quote(page, safe='')}",
            "lineage": f"/lineage?urn={quote(subject, safe='')}",
        }
    return absolute(found, public_url)


def absolute(paths: Mapping[str, str], public_url: str) -> dict[str, str]:
    """Return these paths as addresses."""
    base = public_url.rstrip("/")
    return {name: f"{base}{path}" for name, path in paths.items()}
