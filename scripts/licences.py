"""The page of the licences of the server's packages, from the metadata of the installed ones."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

LOCK = Path(__file__).resolve().parent.parent / "requirements-server.lock"
_HEAD = """# Licences

*Written by `make docs` from `requirements-server.lock` and the packages' own metadata.*

Headwater is under the Apache License 2.0. Its server needs these packages. None is under the GPL or the AGPL, which a test holds.
`make sbom` writes the same list with versions and hashes, in the form of CycloneDX.

| package | licence |
|---|---|
"""
_CLASSIFIER = "License :: OSI Approved :: "


def pinned_packages() -> dict[str, str]:
    """Return the packages of the server's lock with their versions."""
    text = LOCK.read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.\-]+)==([^\s;]+)", text, re.MULTILINE))


def licence_of(package: str) -> str | None:
    """Return the licence that a package states; None if the package is not installed."""
    try:
        found = metadata(package)
    except PackageNotFoundError:
        return None
    classifiers = [
        each.removeprefix(_CLASSIFIER)
        for each in found.get_all("Classifier", [])
        if each.startswith(_CLASSIFIER)
    ]
    expression, text = (
        (found.get_all(name) or [""])[0] for name in ("License-Expression", "License")
    )
    stated = expression or " or ".join(classifiers) or text
    return str(stated).strip().partition("\n")[0]


def licences_page() -> str:
    """Return the page of the licences of all packages that the server needs."""
    rows = "".join(
        f"| {name} | {licence_of(name) or 'only on other systems'} |\n"
        for name in pinned_packages()
    )
    return f"{_HEAD}{rows}"
