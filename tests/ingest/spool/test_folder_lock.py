"""Who replaces a spool has its folder alone, in processes and in one."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import HomeInUseError, SpoolFullError
from headwater.ingest.spool.folder_lock import alone_in_folder, share_folder
from headwater.ingest.spool.spool import Spool

HOLD = (
    "import sys; from pathlib import Path; "
    "from headwater.ingest.spool.folder_lock import alone_in_folder\n"
    "with alone_in_folder(Path(sys.argv[1])):\n    print('held', flush=True)\n    input()"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spool.db"


def test_an_open_spool_shares_its_folder(path: Path) -> None:
    with closing(Spool(path)) as first, closing(Spool(path)) as second:
        with pytest.raises(HomeInUseError, match="another process uses the spool"):
            alone_in_folder(path).__enter__()
        first.close()
        second.append([b"{}"], received=1)
        with pytest.raises(HomeInUseError):
            alone_in_folder(path).__enter__()
    with alone_in_folder(path):
        pass


def test_a_spool_that_is_no_longer_used_holds_no_folder(path: Path) -> None:
    spool: Spool | None = Spool(path)
    assert spool is not None
    spool = None
    with alone_in_folder(path):
        pass


def test_no_spool_is_opened_while_one_process_has_the_folder(path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(SpoolFullError, match="rewrites the spool") as caught:
            Spool(path)
        assert caught.value.hint.startswith("Try again")
        assert not path.exists()
        holder.kill()
    with closing(Spool(path)) as spool:
        assert spool.append([b"{}"], received=1) == 1


def test_a_file_system_without_locks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert share_folder(path) is None
    with closing(Spool(path)) as spool, alone_in_folder(path):
        assert spool.append([b"{}"], received=1) == 1
