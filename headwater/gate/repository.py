"""What a branch changes, read from git: the files before, at the point where the branch left its base, and as they are
in the working tree now.

Git is run without a shell, with null-separated output and without what its configuration could add to it (external
diffs, text conversion, hooks, a file-system monitor). Nothing is written. Submodules and symlinks are left out.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import QueryError

FILE_BYTES_MAX = 20_000_000
FILES_MAX = 5_000
GIT_SECONDS_MAX = 120
_REGULAR = {"100644", "100755"}
_OFF = (
    "core.quotepath=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "diff.external=",
    "log.showSignature=false",
)
_FETCH = "In a shallow clone fetch the history: fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 in GitLab."


@dataclass(frozen=True)
class FileChange:
    """One file: its path and text before and after; None where it is not there. `problem` tells why a text that is
    there could not be read."""

    before_path: str | None
    after_path: str | None
    before: str | None = None
    after: str | None = None
    problem: str = ""

    @property
    def path(self) -> str:
        return self.after_path or self.before_path or ""


@dataclass(frozen=True)
class _Entry:
    before_path: str | None
    after_path: str | None
    before_blob: str


class Repository:
    """The repository that a folder lies in. Raises QueryError when it lies in none, or when there is no git."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root = Path(os.fsdecode(self._git("rev-parse", "--show-toplevel").removesuffix(b"\n")))

    def fork_point(self, base: str) -> str:
        """The commit at which the working branch left `base` (also tried as origin/base)."""
        for name in (base, f"origin/{base}"):
            commit = self._maybe(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
            )
            if commit:
                break
        else:
            raise QueryError(
                f"there is no commit {base!r} in this repository", hint=f"Fetch it. {_FETCH}"
            )
        if not self._maybe("rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
            raise QueryError("HEAD is no commit: nothing is committed yet")
        fork = self._maybe("merge-base", os.fsdecode(commit.strip()), "HEAD")
        if fork:
            return os.fsdecode(fork.split()[0])
        shallow = self._maybe("rev-parse", "--is-shallow-repository").strip() == b"true"
        if shallow:
            raise QueryError(
                f"this clone is shallow: where HEAD left {base!r} is not in it", hint=_FETCH
            )
        raise QueryError(f"HEAD and {base!r} have no history in common")

    def changes(self, fork: str, wanted: tuple[str, ...]) -> list[FileChange]:
        """What differs between a commit and the working tree, of the files that end as `wanted`; untracked ones too."""
        entries = [entry for entry in self._entries(fork) if _is_wanted(entry, wanted)]
        if len(entries) > FILES_MAX:
            raise QueryError(
                f"{len(entries):,} files changed, more than {FILES_MAX:,} are not assessed"
            )
        blobs = self._blobs([entry.before_blob for entry in entries if entry.before_path])
        changes = [self._read(entry, blobs) for entry in entries]
        return [
            change
            for change in changes
            if change.problem or change.before != change.after or _moved(change)
        ]

    def _entries(self, fork: str) -> list[_Entry]:
        told = self._git(
            *(
                "diff-index",
                "-r",
                "-z",
                "-M",
                "--no-ext-diff",
                "--no-textconv",
                "--ignore-submodules=all",
            ),
            *("--no-abbrev", "--end-of-options", fork, "--"),
            folder=self.root,
        )
        entries = _parsed(told)
        others = self._git("ls-files", "-z", "--others", "--exclude-standard", folder=self.root)
        known = {entry.after_path for entry in entries}
        entries += [
            _Entry(None, path, "")
            for path in _names(others)
            if path not in known and not path.endswith("/")
        ]
        return entries

    def _blobs(self, names: list[str]) -> dict[str, bytes | int]:
        """Blobs by name; of one that is too large only its size."""
        sizes = self._git("cat-file", "--batch-check", stdin="\n".join(names).encode())
        small: list[str] = []
        sizes_of: dict[str, int] = {}
        found: dict[str, bytes | int] = {}
        for line in sizes.decode().splitlines():
            name, kind, size = (*line.split(), "", "")[:3]
            if kind != "blob":
                raise QueryError(f"git does not have the blob {name}", hint=_FETCH)
            found[name] = sizes_of[name] = int(size)
            if int(size) <= FILE_BYTES_MAX:
                small.append(name)
        told = self._git("cat-file", "--batch", stdin="\n".join(small).encode()) if small else b""
        for name in small:
            _, _, told = told.partition(b"\n")
            length = sizes_of[name]
            found[name], told = told[:length], told[length + 1 :]
        return found

    def _read(self, entry: _Entry, blobs: dict[str, bytes | int]) -> FileChange:
        problems = []
        texts: list[str | None] = []
        for content in (
            blobs[entry.before_blob] if entry.before_path else None,
            self._on_disk(entry.after_path) if entry.after_path else None,
        ):
            if isinstance(content, int):
                problems.append(f"it is too large to be read ({content:,} bytes)")
            texts.append(
                content.decode("utf-8-sig", "replace") if isinstance(content, bytes) else None
            )
            if isinstance(content, bytes) and b"\0" in content:
                problems.append("it is not text")
        return FileChange(
            entry.before_path, entry.after_path, texts[0], texts[1], "; ".join(problems)
        )

    def _on_disk(self, path: str) -> bytes | int | None:
        """A file of the working tree; None for what is no plain file within it."""
        place = self.root / path
        try:
            if (
                place.is_symlink()
                or not place.resolve().is_relative_to(self.root.resolve())
                or not place.is_file()
            ):
                return None
            with place.open("rb") as stream:
                content = stream.read(FILE_BYTES_MAX + 1)
            return content if len(content) <= FILE_BYTES_MAX else place.stat().st_size
        except OSError as error:
            raise QueryError(f"{path!r} cannot be read: {error.strerror}") from error

    def _maybe(self, *arguments: str) -> bytes:
        """What git says, nothing when it says no."""
        return self._run(arguments, self._folder, b"").stdout

    def _git(self, *arguments: str, folder: Path | None = None, stdin: bytes = b"") -> bytes:
        ended = self._run(arguments, folder or self._folder, stdin)
        if ended.returncode:
            said = (
                ended.stderr.decode(errors="replace").strip() or f"it ended with {ended.returncode}"
            )
            raise QueryError(f"git {arguments[0]}: {said[:500]}")
        return ended.stdout

    def _run(
        self, arguments: tuple[str, ...], folder: Path, stdin: bytes
    ) -> subprocess.CompletedProcess[bytes]:
        settings = [part for setting in _OFF for part in ("-c", setting)]
        environment = {
            **os.environ,
            "LC_ALL": "C",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
        }
        try:
            return subprocess.run(
                ["git", "--no-pager", *settings, *arguments],
                cwd=folder,
                env=environment,
                input=stdin,
                capture_output=True,
                timeout=GIT_SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise QueryError(f"git {arguments[0]} took more than {GIT_SECONDS_MAX} s") from error
        except OSError as error:
            raise QueryError(f"git cannot be run in {str(folder)!r}: {error.strerror}") from error


def _names(told: bytes) -> list[str]:
    return [os.fsdecode(name) for name in told.split(b"\0") if name]


def _parsed(told: bytes) -> list[_Entry]:
    """The raw form of git diff: `:mode mode blob blob status`, then one path, or two where a file was renamed."""
    fields = iter(_names(told))
    entries = []
    for head in fields:
        mode_before, mode_after, blob, _, status = head.removeprefix(":").split()
        first = next(fields)
        second = next(fields) if status[0] in "RC" else first
        before = first if mode_before in _REGULAR and status[0] != "C" else None
        after = second if mode_after in _REGULAR else None
        if before or after:
            entries.append(_Entry(before, after, blob))
    return entries


def _is_wanted(entry: _Entry, wanted: tuple[str, ...]) -> bool:
    paths = [path.lower() for path in (entry.before_path, entry.after_path) if path]
    return any(path.endswith(wanted) for path in paths)


def _moved(change: FileChange) -> bool:
    return change.before_path != change.after_path
