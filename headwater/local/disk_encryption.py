"""Encryption of the disk under a folder: dm-crypt (LUKS), ZFS, eCryptfs, gocryptfs and others.

Linux names the mount of a folder in /proc/self/mountinfo, and the layers of its block device in
/sys/dev/block. A logical volume or a RAID is encrypted if each device under it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from headwater.errors import SettingsError

_ENCRYPTED_TYPES = frozenset({"ecryptfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs"})
_ZFS_SECONDS = 10.0


class Mount(NamedTuple):
    """The mount that holds a folder."""

    point: str
    device: str
    type: str
    source: str


class DiskEncryption(NamedTuple):
    """What was found out about the disk of a folder."""

    folder: Path
    is_encrypted: bool
    found: str


def disk_encryption(folder: Path, root: Path = Path("/")) -> DiskEncryption:
    """Return whether the disk of a folder is encrypted; one that cannot be examined is not.

    The folder need not exist yet. `root` has the folders `proc` and `sys`.
    """
    folder = folder.expanduser().absolute()
    existing = next(each for each in (folder, *folder.parents) if each.exists()).resolve()
    mount = _mount_of(existing, root)
    if mount is None:
        return DiskEncryption(folder, False, "this system does not list its mounts")
    place = f"{mount.type} on {mount.source}"
    if mount.type in _ENCRYPTED_TYPES:
        return DiskEncryption(folder, True, place)
    if mount.type == "zfs":
        return DiskEncryption(folder, _is_encrypted_zfs(mount.source), place)
    return DiskEncryption(folder, _is_encrypted_device(mount, root), place)


def require_encrypted_disk(*folders: Path, root: Path = Path("/")) -> None:
    """Raise SettingsError if the disk of a folder is not known to be encrypted."""
    for folder in folders:
        disk = disk_encryption(folder, root)
        if not disk.is_encrypted:
            raise SettingsError(
                f"the disk of {folder} is not encrypted ({disk.found}), and "
                f"HEADWATER_REQUIRE_ENCRYPTED_DISK is set",
                hint="Move the folder to an encrypted volume: docs/how-to/encryption.md.",
            )


def _mount_of(folder: Path, root: Path) -> Mount | None:
    try:
        lines = (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found: Mount | None = None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, (type, source, *_) = before.split(" "), after.split(" ")
        point = fields[4].encode().decode("unicode_escape")
        # Of two mounts at one place, the later one hides the earlier one.
        is_longest = found is None or len(point) >= len(found.point)
        if folder.is_relative_to(point) and is_longest:
            found = Mount(point, fields[2], type, source)
    return found


def _is_encrypted_device(mount: Mount, root: Path) -> bool:
    device = mount.device
    # Btrfs has device numbers of its own; its source is the block device.
    if device.startswith("0:") and mount.source.startswith("/dev/"):
        try:
            number = os.stat(mount.source).st_rdev
        except OSError:
            return False
        device = f"{os.major(number)}:{os.minor(number)}"
    return _is_encrypted_block(root / "sys/dev/block" / device)


def _is_encrypted_block(block: Path) -> bool:
    try:
        if (block / "dm/uuid").read_text(encoding="ascii").startswith("CRYPT-"):
            return True
    except OSError:
        pass
    try:
        below = [*(block / "slaves").iterdir()]
    except OSError:
        return False
    return bool(below) and all(_is_encrypted_block(each) for each in below)


def _is_encrypted_zfs(dataset: str) -> bool:
    program = shutil.which("zfs")
    if program is None:
        return False
    command = [program, "get", "-H", "-o", "value", "encryption", dataset]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_ZFS_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.strip() not in ("", "off", "-")
