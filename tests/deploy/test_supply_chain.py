"""What a release consists of: its list of parts, licences, known weaknesses, and the hardening of containers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.advisories import assess
from scripts.licences import LOCK, licence_of, pinned_packages
from tests.repo.repository import ROOT


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the components of the list that `make sbom` writes."""
    file = tmp_path_factory.mktemp("sbom") / "sbom.json"
    recipe = re.search(
        r"^sbom:.*?\n\n", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M | re.S
    )
    assert recipe
    words = recipe[0].replace("\\\n", " ").partition("$(bin) ")[2].split()
    command = [sys.executable, "-W", "ignore", "-m", *words[:-1], str(file)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    written = json.loads(file.read_bytes())
    assert (written["bomFormat"], written["metadata"]["component"]["name"]) == (
        "CycloneDX",
        "headwater",
    )
    return {each["name"]: each for each in written["components"]}


def test_the_list_of_parts_has_each_file_of_the_lock(parts: dict[str, dict[str, Any]]) -> None:
    assert {name: each["version"] for name, each in parts.items()} == pinned_packages()
    entries = re.split(r"\n(?! )", LOCK.read_text(encoding="utf-8").strip())
    for entry in entries:
        (reference,) = parts[entry.partition("==")[0]]["externalReferences"]
        hashes = {each["content"] for each in reference["hashes"]}
        assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", entry))


def test_no_package_of_the_server_is_under_the_gpl() -> None:
    licences = {name: licence_of(name) for name in pinned_packages()}
    installed = {name: licence for name, licence in licences.items() if licence is not None}
    assert len(installed) > 50
    assert [name for name, licence in installed.items() if not licence] == []
    gpl = re.compile(r"(?<!L)GPL|Affero|GNU General", re.IGNORECASE)
    assert {name: licence for name, licence in installed.items() if gpl.search(licence)} == {}


def test_weaknesses_fail_and_a_missing_service_is_reported() -> None:
    skipped = {"name": "a", "skip_reason": "not found"}
    sound = {"name": "b", "version": "1", "vulns": []}
    weak = {"name": "c", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
    assert assess({"dependencies": [skipped]}) == (
        0,
        ["the advisory service does not answer here: nothing was checked"],
    )
    assert assess({"dependencies": [sound]}) == (0, ["1 packages, none with a known weakness"])
    assert assess({"dependencies": [sound, weak]}) == (1, ["c 2: CVE-1, fixed in 3"])
    assert assess({"dependencies": [sound, skipped]}) == (1, ["a: not checked"])


def test_containers_of_headwater_may_do_little() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    for name in ("api", "worker", "detector"):
        service = services[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["tmpfs"] == ["/tmp"]
        assert "privileged" not in service


def test_jobs_may_write_only_where_they_must() -> None:
    workflows = {
        file.name: yaml.safe_load(file.read_text(encoding="utf-8"))
        for file in Path(ROOT / ".github/workflows").glob("*.yml")
    }
    assert set(workflows) == {"ci.yml", "release.yml"}
    assert all(each["permissions"] == {"contents": "read"} for each in workflows.values())
    (release,) = workflows["release.yml"]["jobs"].values()
    assert release["permissions"] == {
        "contents": "write",
        "id-token": "write",
        "attestations": "write",
    }
    used = {
        step["uses"]
        for workflow in workflows.values()
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "uses" in step
    }
    # A tag can be moved to another commit, and a hash cannot.
    assert [each for each in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each)] == []
    assert len(used) == 4
