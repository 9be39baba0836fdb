"""Rewritten events: their checksums, and what stays."""

from __future__ import annotations

import zlib
from contextlib import closing
from pathlib import Path

from headwater.forgetting.events import rewrite_spool
from headwater.ingest.receive.forgotten import Forgotten, hash_value, mask_of
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool

SEARCH = Forgotten(b"key", [hash_value(b"key", "ann smith")])
MASK = mask_of(hash_value(b"key", "ann smith")[0]).encode()


def test_position_and_receipt_stay_and_the_checksum_is_new(tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    with closing(Spool(path)) as spool:
        spool.append([b'{"a": 1}', b'{"by": "Ann Smith"}', b"ann-smith"], received=70)
        spool.dead_letter([(3, "no JSON: ann-smith"), (1, "other")])
    counts = rewrite_spool(path, SEARCH, lambda *_: None, dry_run=True)
    assert counts == {"events": 2, "dead letters": 1}
    assert b"Ann Smith" in path.read_bytes()
    rewrite_spool(path, SEARCH, lambda *_: None, dry_run=False)
    stored = list(SpoolReader(path).events(1, 9))
    assert [(one.seq, one.received) for one in stored] == [(1, 70), (2, 71), (3, 72)]
    assert [one.body for one in stored] == [b'{"a": 1}', b'{"by": "' + MASK + b'"}', MASK]
    assert all(one.checksum == zlib.crc32(one.body) for one in stored)
    with closing(Spool(path)) as spool:
        reasons = {letter.seq: letter.reason for letter in spool.dead_letters()}
    assert reasons == {3: f"no JSON: {MASK.decode()}", 1: "other"}
    files = [file.read_bytes() for file in tmp_path.iterdir()]
    assert not any(b"Smith" in data or b"ann-smith" in data for data in files)
