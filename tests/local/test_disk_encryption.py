"""Encrypted and plain disks are told apart by the files that Linux has about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.local.disk_encryption import disk_encryption, require_encrypted_disk

# dm-0 is LUKS on sda2; dm-1 is a volume of LVM on it; md0 is a RAID of dm-0 and sdb1.
BLOCKS = {
    "8:1": ("", []),
    "8:17": ("", []),
    "253:0": ("CRYPT-LUKS2-5f1c-secret\n", ["8:2"]),
    "253:1": ("LVM-abc\n", ["253:0"]),
    "253:2": ("LVM-def\n", ["8:1"]),
    "9:0": ("", ["253:0", "8:17"]),
    "8:2": ("", []),
}


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return the root of a machine with these block devices and without mounts."""
    root = tmp_path / "machine"
    (root / "proc/self").mkdir(parents=True)
    for number, (uuid, below) in BLOCKS.items():
        block = root / "sys/dev/block" / number
        (block / "slaves").mkdir(parents=True)
        if uuid:
            (block / "dm").mkdir()
            (block / "dm/uuid").write_text(uuid, encoding="ascii")
        for each in below:
            (block / "slaves" / each).symlink_to(root / "sys/dev/block" / each)
    return root


def mount(machine: Path, *mounts: tuple[str, str, str, str]) -> None:
    lines = [
        f"{number} 1 {device} / {point} rw,noatime shared:1 - {type} {source} rw"
        for number, (device, point, type, source) in enumerate(mounts, 20)
    ]
    (machine / "proc/self/mountinfo").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("device", "type", "encrypted"),
    [
        ("8:1", "ext4", False),
        ("253:0", "ext4", True),
        ("253:1", "xfs", True),
        ("253:2", "xfs", False),
        ("9:0", "ext4", False),
        ("0:40", "ecryptfs", True),
        ("0:41", "fuse.gocryptfs", True),
        ("0:42", "tmpfs", False),
        ("0:43", "overlay", False),
        ("7:9", "ext4", False),
    ],
)
def test_the_layers_of_a_disk(machine: Path, device: str, type: str, encrypted: bool) -> None:
    mount(machine, (device, "/", type, "source"))
    found = disk_encryption(Path("/srv/headwater/home"), machine)
    assert (found.is_encrypted, found.found) == (encrypted, f"{type} on source")


def test_the_nearest_mount_counts_and_the_later_hides_the_earlier(
    machine: Path, tmp_path: Path
) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    point = str(home).replace(" ", "\\040")
    mount(machine, ("8:1", "/", "ext4", "/dev/sda1"), ("253:0", point, "ext4", "/dev/dm-0"))
    assert disk_encryption(home / "not" / "yet", machine).is_encrypted
    assert not disk_encryption(tmp_path, machine).is_encrypted
    mount(machine, ("253:0", point, "ext4", "/dev/dm-0"), ("8:1", point, "ext4", "/dev/sda1"))
    assert not disk_encryption(home, machine).is_encrypted


@pytest.mark.parametrize(("value", "encrypted"), [("aes-256-gcm", True), ("off", False)])
def test_zfs_is_asked(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, encrypted: bool
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "zfs").write_text(f'#!/bin/sh\n[ "$6" = pool/home ] && echo {value}\n')
    (programs / "zfs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    mount(machine, ("0:44", "/", "zfs", "pool/home"))
    assert disk_encryption(Path("/srv"), machine).is_encrypted is encrypted


def test_a_plain_disk_is_refused_where_an_encrypted_one_is_required(
    machine: Path, tmp_path: Path
) -> None:
    mount(machine, ("8:1", "/", "ext4", "/dev/sda1"))
    with pytest.raises(SettingsError, match=r"is not encrypted \(ext4 on /dev/sda1\)"):
        require_encrypted_disk(tmp_path, root=machine)
    (machine / "proc/self/mountinfo").unlink()
    with pytest.raises(SettingsError, match="does not list its mounts"):
        require_encrypted_disk(tmp_path, root=machine)
    mount(machine, ("253:1", "/", "ext4", "/dev/dm-1"))
    require_encrypted_disk(tmp_path, tmp_path / "missing", root=machine)
