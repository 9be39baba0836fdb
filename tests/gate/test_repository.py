"""The files that a branch changes, read from real and awkward repositories."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from headwater.errors import QueryError
from headwater.gate import repository as module
from headwater.gate.repository import FileChange, Repository
from tests.gate.repositories import GitRepository

SQL = "select a, b, c, d, e from somewhere\nwhere a > 1\n"


def changes(
    repository: GitRepository, base: str = "main", folder: Path | None = None
) -> dict[str, FileChange]:
    found = Repository(folder or repository.folder)
    return {change.path: change for change in found.changes(found.fork_point(base), (".sql",))}


def test_changed_added_deleted_renamed_and_untracked(tmp_path: Path) -> None:
    repository = GitRepository(
        tmp_path / "r",
        {"a.sql": SQL, "gone.sql": "select 1", "old name.sql": SQL * 3, "same.sql": SQL},
    )
    repository.git("checkout", "-q", "-b", "work")
    repository.git("mv", "old name.sql", "new größe\ttab.sql")
    repository.git("rm", "-q", "gone.sql")
    repository.write({"a.sql": SQL + "-- committed\n"})
    repository.commit()
    repository.write(
        {"a.sql": SQL + "-- in the working tree\n", "untracked/ü.sql": "select 2", "note.txt": "no"}
    )
    found = changes(repository)
    assert found == {
        "a.sql": FileChange("a.sql", "a.sql", SQL, SQL + "-- in the working tree\n"),
        "gone.sql": FileChange("gone.sql", None, "select 1", None),
        "new größe\ttab.sql": FileChange("old name.sql", "new größe\ttab.sql", SQL * 3, SQL * 3),
        "untracked/ü.sql": FileChange(None, "untracked/ü.sql", None, "select 2"),
    }
    assert changes(repository, folder=repository.folder / "untracked") == found


def test_later_commits_on_main_are_not_changes_of_the_branch(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "r", {"a.sql": SQL, "b.sql": SQL})
    repository.branch({"a.sql": "select 1"})
    repository.git("checkout", "-q", "main")
    repository.write({"b.sql": "select 2"})
    repository.commit()
    repository.git("checkout", "-q", "work")
    assert list(changes(repository)) == ["a.sql"]


def test_a_file_that_was_changed_back_does_not_change(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "r", {"a.sql": SQL})
    repository.branch({"a.sql": "select 1"})
    repository.write({"a.sql": SQL})
    assert changes(repository) == {}


def test_ignored_files_symlinks_and_submodules_are_left_out(tmp_path: Path) -> None:
    other = GitRepository(tmp_path / "other", {"inside.sql": SQL})
    secret = tmp_path / "secret.sql"
    secret.write_text("select password")
    repository = GitRepository(tmp_path / "r", {".gitignore": "ignored.sql\n", "turns.sql": SQL})
    repository.git("checkout", "-q", "-b", "work")
    repository.write({"ignored.sql": SQL})
    (repository.folder / "link.sql").symlink_to(secret)
    (repository.folder / "away").symlink_to(tmp_path)
    (repository.folder / "turns.sql").unlink()
    (repository.folder / "turns.sql").symlink_to(secret)
    repository.git("submodule", "add", "-q", str(other.folder), "module.sql")
    repository.commit()
    # Where a plain file became a link, the file is gone; the target of the link does not count.
    assert changes(repository) == {"turns.sql": FileChange("turns.sql", None, SQL, None)}


def test_binary_and_huge_files_are_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FILE_BYTES_MAX", 1_000)
    repository = GitRepository(tmp_path / "r", {"huge.sql": b"-" * 1_001, "small.sql": SQL})
    repository.branch(
        {
            "binary.sql": b"\x00\x01",
            "huge.sql": "select 1",
            "small.sql": b"-" * 2_000,
            "latin.sql": b"select '\xe9'",
        }
    )
    problems = {path: change.problem for path, change in changes(repository).items()}
    assert problems == {
        "binary.sql": "it is not text",
        "huge.sql": "it is too large (1,001 bytes, at most 1,000)",
        "small.sql": "it is too large (2,000 bytes, at most 1,000)",
        "latin.sql": "",
    }


def test_too_many_files_are_not_assessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILES_MAX", 2)
    repository = GitRepository(tmp_path / "r", {"a.txt": ""})
    repository.branch({f"{n}.sql": SQL for n in range(3)})
    with pytest.raises(QueryError, match="the branch changes 3 files, more than 2"):
        changes(repository)


def test_commands_of_the_configuration_are_not_run(tmp_path: Path) -> None:
    repository = GitRepository(
        tmp_path / "r", {"a.sql": SQL, ".gitattributes": "*.sql diff=evil\n"}
    )
    touched = tmp_path / "touched"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {touched}\n")
    script.chmod(0o755)
    for setting in (
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "core.fsmonitor",
        "core.pager",
    ):
        repository.git("config", setting, str(script))
    (repository.folder / ".git/hooks/post-index-change").write_text(script.read_text())
    (repository.folder / ".git/hooks/post-index-change").chmod(0o755)
    repository.git("config", "core.quotepath", "true")
    repository.write({"ä.sql": SQL, "a.sql": "select 1"})
    touched.unlink(missing_ok=True)
    assert set(changes(repository)) == {"a.sql", "ä.sql"}
    assert not touched.exists()


@pytest.mark.parametrize("name", ["evil", "Evil.with.dots", "ä", 'quo"te', ""])
@pytest.mark.parametrize("kind", ["clean", "process"])
@pytest.mark.parametrize("required", ["true", "false"])
def test_filters_of_the_configuration_are_not_run(
    tmp_path: Path, name: str, kind: str, required: str
) -> None:
    repository, log = with_filter(tmp_path, name, kind, required)
    with suppress(CalledProcessError):
        repository.git("diff-index", "-M", "main")
    assert log.exists(), "git itself runs the filter"
    log.unlink()
    assert set(changes(repository)) == {"new.sql", "racy.sql"}
    assert not log.exists()


def test_a_filter_that_cannot_be_switched_off_is_refused(tmp_path: Path) -> None:
    repository, log = with_filter(tmp_path, "a=b", "clean", "false")
    with pytest.raises(QueryError, match=r"'filter\.a=b\.clean' of git cannot be switched off"):
        changes(repository)
    assert not log.exists()


def with_filter(tmp_path: Path, name: str, kind: str, required: str) -> tuple[GitRepository, Path]:
    """Return a repository with a filter of each .sql, and the file that the filter touches.

    One file is renamed and changed; the size and times of another do not show its change.
    """
    repository = GitRepository(tmp_path / "r", {"old.sql": SQL * 3, "racy.sql": SQL})
    repository.git("checkout", "-q", "-b", "work")
    repository.git("mv", "old.sql", "new.sql")
    repository.write({"new.sql": SQL * 3 + "-- more\n", "racy.sql": SQL.replace("a", "z")})
    log = tmp_path / "touched"
    (repository.folder / ".git/info/attributes").write_text(f"*.sql filter={name}\n")
    quoted = name.replace('"', '\\"')
    with (repository.folder / ".git/config").open("a") as config:
        config.write(f'[filter "{quoted}"]\n{kind} = touch {log}; cat\nrequired = {required}\n')
    return repository, log


def test_a_partial_clone_runs_no_transport(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "r", {"a.sql": SQL})
    repository.branch({"a.sql": "select 1"})
    touched, script = tmp_path / "touched", tmp_path / "upload-pack.sh"
    script.write_text(f"#!/bin/sh\ntouch {touched}\nexit 1\n")
    script.chmod(0o755)
    for setting, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "protocol.file.allow": "always",
        "protocol.ext.allow": "always",
        "remote.evil.promisor": "true",
        "remote.evil.uploadpack": str(script),
        "remote.evil.url": str(repository.folder),
    }.items():
        repository.git("config", setting, value)
    blob = repository.git("rev-parse", "main:a.sql")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for url in (str(repository.folder), f"ext::{script}", "ssh://host/r", "evil::x"):
        repository.git("config", "remote.evil.url", url)
        repository.git("config", "core.sshCommand", str(script))
        with pytest.raises(QueryError, match=r"promisor remote|does not have the blob") as refused:
            changes(repository)
        assert refused.value.hint
        assert not touched.exists()
    repository.git("config", "remote.evil.url", str(repository.folder))
    with suppress(CalledProcessError):
        repository.git("cat-file", "-e", blob)
    assert touched.exists(), "git itself runs the transport"


def test_a_missing_base_has_a_hint_how_to_fetch_it(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "r", {"a.sql": SQL})
    for base in ("nope", "--upload-pack=x", "", "main:a.sql"):
        with pytest.raises(QueryError, match="there is no commit") as refused:
            changes(repository, base)
        assert "fetch-depth: 0" in refused.value.hint


def test_the_base_of_a_remote_is_found(tmp_path: Path) -> None:
    origin = GitRepository(tmp_path / "origin", {"a.sql": SQL})
    origin.branch({"a.sql": "select 1"})
    clone = tmp_path / "clone"
    origin.git("clone", "-q", "-b", "work", str(origin.folder), str(clone))
    found = Repository(clone)
    assert [change.path for change in found.changes(found.fork_point("main"), (".sql",))] == [
        "a.sql"
    ]


def test_a_shallow_clone_has_a_hint(tmp_path: Path) -> None:
    origin = GitRepository(tmp_path / "origin", {"a.sql": SQL})
    origin.branch({"a.sql": "select 1"})
    origin.git("checkout", "-q", "main")
    origin.write({"b.sql": SQL})
    origin.commit()
    origin.git("checkout", "-q", "work")
    clone = tmp_path / "clone"
    origin.git(
        "clone", "-q", "--depth=1", "--no-single-branch", f"file://{origin.folder}", str(clone)
    )
    with pytest.raises(QueryError, match="shallow") as refused:
        Repository(clone).fork_point("main")
    assert "fetch-depth: 0" in refused.value.hint


def test_histories_without_a_common_commit_are_refused(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "r", {"a.sql": SQL})
    repository.git("checkout", "-q", "--orphan", "other")
    repository.write({"b.sql": SQL})
    repository.commit()
    with pytest.raises(QueryError, match="no history in common"):
        changes(repository)


def test_no_repository_no_commit_and_no_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(QueryError, match="not a git repository"):
        Repository(tmp_path)
    with pytest.raises(QueryError, match="git cannot be run"):
        Repository(tmp_path / "nowhere")
    repository = GitRepository(tmp_path / "r", {"a.sql": SQL})
    repository.git("update-ref", "refs/heads/other", "HEAD")
    repository.git("checkout", "-q", "--orphan", "empty")
    with pytest.raises(QueryError, match="has no commit yet"):
        changes(repository, "other")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(QueryError, match="git cannot be run"):
        Repository(repository.folder)
