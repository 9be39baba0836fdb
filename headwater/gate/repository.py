"""The files that a branch changes, read from git: at the fork point and in the working tree.

Git runs without a shell, with null-separated output, and without the commands of its configuration:
external diffs, text conversion, filters, hooks, a file-system monitor, and the transports and
credential helpers with which a partial clone would fetch a missing blob. Nothing is written.
Submodules and symlinks are ignored.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import QueryError

FILE_BYTES_MAX = 20_000_000
FILES_MAX = 5_000
GIT_SECONDS_MAX = 120
_REGULAR_MODES = {"100644", "100755"}
_SAFE_SETTINGS = (
    "core.quotepath=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "diff.external=",
    "log.showSignature=false",
)
_SAFE_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # No protocol has this name. Git before 2.44 lacks the second variable.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
_DIFF = (
    *("diff-index", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv"),
    *("--ignore-submodules=all", "--no-abbrev", "--end-of-options"),
)
_FETCH = (
    "In a shallow clone fetch the history: fetch-depth: 0 for actions/checkout, "
    "GIT_DEPTH: 0 in GitLab."
)
_CLONE = "Nothing is fetched here. Make a clone with all files: without --filter."
# A file that is too large is represented by its size.
FileBytes = bytes | int


@dataclass(frozen=True)
class FileChange:
    """One file with its path and text before and after, each None if it does not exist.

    problem: the reason why an existing text could not be read."""

    before_path: str | None
    after_path: str | None
    before: str | None = None
    after: str | None = None
    problem: str = ""

    @property
    def path(self) -> str:
        """Return the path after, or before if the file is deleted."""
        return self.after_path or self.before_path or ""

    @property
    def is_moved(self) -> bool:
        return self.before_path != self.after_path


@dataclass(frozen=True)
class _DiffEntry:
    before_path: str | None
    after_path: str | None
    before_blob: str

    def ends_with(self, endings: tuple[str, ...]) -> bool:
        """Return True if one of the paths has one of the endings."""
        paths = [path.lower() for path in (self.before_path, self.after_path) if path]
        return any(path.endswith(endings) for path in paths)


class Repository:
    """The repository of a folder. Raises QueryError for a folder outside any, or without git."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._settings: tuple[str, ...] = _SAFE_SETTINGS
        self._settings = (*_SAFE_SETTINGS, *self._filters_off())
        root = self._git("rev-parse", "--show-toplevel").removesuffix(b"\n")
        self.root = Path(os.fsdecode(root))

    def fork_point(self, base: str) -> str:
        """Return the commit at which the branch left `base`, or `origin/base`."""
        commit = self._commit(base) or self._commit(f"origin/{base}")
        if not commit:
            raise QueryError(
                f"there is no commit {base!r} in this repository", hint=f"Fetch it. {_FETCH}"
            )
        if not self._commit("HEAD"):
            raise QueryError("the repository has no commit yet")
        fork = self._git_or_nothing("merge-base", commit, "HEAD")
        if fork:
            return os.fsdecode(fork.split()[0])
        is_shallow = self._git_or_nothing("rev-parse", "--is-shallow-repository").strip()
        if is_shallow == b"true":
            raise QueryError(
                f"this clone is shallow and lacks the commit at which HEAD left {base!r}",
                hint=_FETCH,
            )
        raise QueryError(f"HEAD and {base!r} have no history in common")

    def changes(self, fork: str, endings: tuple[str, ...]) -> list[FileChange]:
        """Return files that differ between a commit and the working tree, untracked ones too."""
        entries = [entry for entry in self._entries(fork) if entry.ends_with(endings)]
        if len(entries) > FILES_MAX:
            raise QueryError(f"the branch changes {len(entries):,} files, more than {FILES_MAX:,}")
        blobs = self._blobs([entry.before_blob for entry in entries if entry.before_path])
        changes = [self._read(entry, blobs) for entry in entries]
        return [
            change
            for change in changes
            if change.problem or change.before != change.after or change.is_moved
        ]

    def _commit(self, name: str) -> str:
        """Return the hash of a commit, or ""."""
        revision = f"{name}^{{commit}}"
        output = self._git_or_nothing(
            "rev-parse", "--verify", "--quiet", "--end-of-options", revision
        )
        return os.fsdecode(output.strip())

    def _filters_off(self) -> Iterator[str]:
        """Yield settings that empty the filters of the configuration. Raises QueryError.

        Git runs them to compare a file of the working tree with the index, or to find a renamed
        one. An empty `required` is false.
        """
        names = self._git_or_nothing("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        for name in dict.fromkeys(_split_names(names)):
            if "=" in name:
                raise QueryError(
                    f"the filter {name!r} of git cannot be switched off",
                    hint="Give it a name without =.",
                )
            yield f"{name}="

    def _entries(self, fork: str) -> list[_DiffEntry]:
        entries = _parse_diff(self._git(*_DIFF, fork, "--", folder=self.root))
        tracked = {entry.after_path for entry in entries}
        others = self._git("ls-files", "-z", "--others", "--exclude-standard", folder=self.root)
        for path in _split_names(others):
            if path not in tracked and not path.endswith("/"):
                entries.append(_DiffEntry(None, path, ""))
        return entries

    def _blobs(self, names: list[str]) -> dict[str, FileBytes]:
        """Return blobs by name; of one that is too large, only its size."""
        listing = self._git("cat-file", "--batch-check", stdin="\n".join(names).encode())
        sizes: dict[str, int] = {}
        for line in listing.decode().splitlines():
            name, kind, size = (*line.split(), "", "")[:3]
            if kind != "blob":
                raise QueryError(f"git does not have the blob {name}", hint=_FETCH)
            sizes[name] = int(size)
        blobs: dict[str, FileBytes] = {**sizes}
        small = [name for name, size in sizes.items() if size <= FILE_BYTES_MAX]
        content = b""
        if small:
            content = self._git("cat-file", "--batch", stdin="\n".join(small).encode())
        for name in small:
            # Each blob follows a line with its name and size, and ends with a line break.
            _, _, content = content.partition(b"\n")
            length = sizes[name]
            blobs[name], content = content[:length], content[length + 1 :]
        return blobs

    def _read(self, entry: _DiffEntry, blobs: dict[str, FileBytes]) -> FileChange:
        before = blobs[entry.before_blob] if entry.before_path else None
        after = self._on_disk(entry.after_path) if entry.after_path else None
        problems = [problem for problem in map(_problem_with, (before, after)) if problem]
        return FileChange(
            entry.before_path,
            entry.after_path,
            _decode(before),
            _decode(after),
            "; ".join(problems),
        )

    def _on_disk(self, path: str) -> FileBytes | None:
        """Return a file of the working tree; None if it is not a plain file within it."""
        file = self.root / path
        try:
            is_inside = file.resolve().is_relative_to(self.root.resolve())
            if file.is_symlink() or not is_inside or not file.is_file():
                return None
            with file.open("rb") as stream:
                content = stream.read(FILE_BYTES_MAX + 1)
            return content if len(content) <= FILE_BYTES_MAX else file.stat().st_size
        except OSError as error:
            raise QueryError(f"{path!r} cannot be read: {error.strerror}") from error

    def _git_or_nothing(self, *arguments: str) -> bytes:
        """Return the output of git, empty if it fails."""
        return self._run(arguments, self._folder, b"").stdout

    def _git(self, *arguments: str, folder: Path | None = None, stdin: bytes = b"") -> bytes:
        """Return the output of git. Raises QueryError if it fails."""
        ended = self._run(arguments, folder or self._folder, stdin)
        if ended.returncode:
            problem = ended.stderr.decode(errors="replace").strip()
            problem = problem or f"it ended with {ended.returncode}"
            hint = _CLONE if "promisor remote" in problem else ""
            raise QueryError(f"git {arguments[0]}: {problem[:500]}", hint=hint)
        return ended.stdout

    def _run(
        self, arguments: tuple[str, ...], folder: Path, stdin: bytes
    ) -> subprocess.CompletedProcess[bytes]:
        settings: list[str] = []
        for setting in self._settings:
            settings += ["-c", setting]
        try:
            return subprocess.run(
                ["git", "--no-pager", *settings, *arguments],
                cwd=folder,
                env={**os.environ, **_SAFE_ENVIRONMENT},
                input=stdin,
                capture_output=True,
                timeout=GIT_SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise QueryError(f"git {arguments[0]} took more than {GIT_SECONDS_MAX} s") from error
        except OSError as error:
            raise QueryError(f"git cannot be run in {str(folder)!r}: {error.strerror}") from error


def _problem_with(content: FileBytes | None) -> str:
    """Return the reason why a file cannot be read as text, or ""."""
    if isinstance(content, int):
        return f"it is too large ({content:,} bytes, at most {FILE_BYTES_MAX:,})"
    return "it is not text" if content is not None and b"\0" in content else ""


def _decode(content: FileBytes | None) -> str | None:
    return content.decode("utf-8-sig", "replace") if isinstance(content, bytes) else None


def _split_names(output: bytes) -> list[str]:
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _parse_diff(output: bytes) -> list[_DiffEntry]:
    """Parse the raw form of git diff.

    `:mode mode blob blob status`, then one path, or two for a renamed file."""
    fields = iter(_split_names(output))
    entries = []
    for head in fields:
        mode_before, mode_after, blob, _, status = head.removeprefix(":").split()
        first = next(fields)
        second = next(fields) if status[0] in "RC" else first
        before = first if mode_before in _REGULAR_MODES and status[0] != "C" else None
        after = second if mode_after in _REGULAR_MODES else None
        if before or after:
            entries.append(_DiffEntry(before, after, blob))
    return entries
