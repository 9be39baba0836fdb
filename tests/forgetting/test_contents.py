"""Rewritten content: compressed files, archives, and what cannot be searched."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.forgetting import contents
from headwater.forgetting.contents import UnsearchedError, rewrite_content
from headwater.ingest.receive.forgotten import Forgotten, hash_value, mask_of

SEARCH = Forgotten(b"key", [hash_value(b"key", "ann smith")])
MASK = mask_of(hash_value(b"key", "ann smith")[0])
LINES = b"one\nann smith\n" + b"".join(b"line %d\n" % number for number in range(9_000))


def zipped(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(data: bytes) -> bytes:
    new = rewrite_content(data, SEARCH)
    assert new is not None
    return new


@pytest.mark.parametrize("cut", [1, 8, 9, 500])
def test_a_gzip_file_that_is_cut_at_its_end_is_rewritten(cut: int) -> None:
    new = gzip.decompress(rewritten(gzip.compress(LINES)[:-cut]))
    assert new.startswith(b"one\n" + MASK.encode() + b"\nline 0\n")
    whole = LINES.replace(b"ann smith", MASK.encode())
    assert whole.startswith(new)
    assert len(new) > len(whole) // 2


def test_a_cut_file_without_the_value_is_a_problem() -> None:
    with pytest.raises(UnsearchedError, match="cut or damaged; the part that can be read has no"):
        rewrite_content(gzip.compress(b"calm " * 9_000)[:-9], SEARCH)


def test_the_name_in_the_header_of_gzip_is_removed() -> None:
    target = io.BytesIO()
    with gzip.GzipFile("ann smith.log", "wb", fileobj=target) as stream:
        stream.write(b"calm")
    new = rewritten(target.getvalue())
    assert b"smith" not in new
    assert gzip.decompress(new) == b"calm"


def test_bzip2_and_members_of_gzip_are_rewritten() -> None:
    assert bz2.decompress(rewritten(bz2.compress(b"ann smith"))) == MASK.encode()
    data = gzip.compress(b"one ") + gzip.compress(b"ann smith")
    assert gzip.decompress(rewritten(data)) == b"one " + MASK.encode()


def test_a_compressed_binary_with_the_value_is_removed() -> None:
    assert rewrite_content(gzip.compress(b"\0ann smith"), SEARCH) is None
    data = gzip.compress(b"\0ann")
    assert rewritten(data) is data


def test_a_zip_archive_is_rewritten_in_names_and_content() -> None:
    data = zipped(
        {
            "a/ann smith.txt": b"x",
            "a/ann-smith.txt": b"y",
            "b.json": b'{"by": "Ann Smith"}',
            "c.gz": gzip.compress(b"ann smith", mtime=0),
            "d.bin": b"\0ann smith",
            "e.bin": b"\0e",
        }
    )
    new = unzipped(rewritten(data))
    assert gzip.decompress(new.pop("c.gz")) == MASK.encode()
    assert new == {
        f"a/{MASK}.txt": b"x",
        f"a/{MASK}.txt-2": b"y",
        "b.json": b'{"by": "' + MASK.encode() + b'"}',
        "e.bin": b"\0e",
    }
    calm = zipped({"a": b"calm"})
    assert rewritten(calm) is calm


def test_comments_of_a_zip_archive_are_rewritten() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        info = zipfile.ZipInfo("a")
        info.comment = b"of ann smith"
        archive.writestr(info, b"calm")
        archive.comment = b"by ann smith"
    assert b"smith" not in rewritten(target.getvalue())


def damaged(data: bytes) -> bytes:
    middle = len(data) // 2
    return (
        data[:middle] + bytes(255 - one for one in data[middle : middle + 40]) + data[middle + 40 :]
    )


def encrypted() -> bytes:
    """Return an archive that marks its only member as encrypted."""
    data = bytearray(zipped({"a": b"x"}))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (damaged(gzip.compress(LINES.replace(b"smith", b""))), "data is (cut or )?damaged"),
        (gzip.compress(LINES)[:-8] + b"\0" * 8, "compressed data is damaged"),
        (damaged(zipped({"a": LINES})), "damaged|cannot be read"),
        (zipped({"a": LINES})[:-30], "the archive cannot be read"),
        (encrypted(), "the archive cannot be read: .*encrypted"),
        (b"\x28\xb5\x2f\xfd....", "compressed by zstd"),
        (b"PAR1" + b"x" * 60, "the Parquet file cannot be read"),
    ],
)
def test_what_cannot_be_searched_is_a_problem(data: bytes, problem: str) -> None:
    with pytest.raises(UnsearchedError, match=problem):
        rewrite_content(data, SEARCH)


def test_a_damaged_parquet_file_is_a_problem() -> None:
    with pytest.raises(UnsearchedError, match="the Parquet file cannot be read"):
        rewrite_content(b"no Parquet", SEARCH, is_parquet=True)


@pytest.mark.parametrize("column", ["ann smith", "calm"])
def test_a_parquet_file_with_the_value_is_removed(column: str) -> None:
    target = io.BytesIO()
    pq.write_table(pa.table({column: ["x"]}), target)
    is_removed = rewrite_content(target.getvalue(), SEARCH) is None
    assert is_removed == (column != "calm")


def test_a_bomb_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "EXPANDED_BYTES_MAX", 2**21)
    monkeypatch.setattr(contents, "MEMBERS_MAX", 3)
    data = gzip.compress(b"x" * 2**22)
    with pytest.raises(UnsearchedError, match="expands to more than 2,097,152 bytes"):
        rewrite_content(data, SEARCH)
    half = b"x" * (2**20 + 1)
    with pytest.raises(UnsearchedError, match="expands to more than"):
        rewrite_content(zipped({"a": half, "b": half}), SEARCH)
    with pytest.raises(UnsearchedError, match="more than 3 members"):
        rewrite_content(zipped(dict.fromkeys("abcd", b"x")), SEARCH)
    nested = b"x"
    for _ in range(5):
        nested = gzip.compress(nested)
    with pytest.raises(UnsearchedError, match="more than 4 archives inside each other"):
        rewrite_content(nested, SEARCH)


def parquet(table: pa.Table) -> bytes:
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


LONG = "x " * 500 + "ann smith"


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": [1]}, metadata={"note": LONG}),
        pa.table({"a": [1]}, metadata={"Ann Smith": "x"}),
        pa.table([[1]], schema=pa.schema([pa.field("a", pa.int64(), metadata={"note": LONG})])),
        pa.table(
            [[{"b": 1}]],
            schema=pa.schema(
                [
                    pa.field(
                        "a", pa.struct([pa.field("b", pa.int64(), metadata={"ann": "ann smith"})])
                    )
                ]
            ),
        ),
        pa.table([["ann smith"], ["calm"]], names=["a", "a"]),
        pa.table({"a": [[{"b": [b"ann smith"]}]]}),
    ],
    ids=["metadata", "key", "field", "inner field", "equal names", "inner cell"],
)
def test_a_parquet_file_is_searched_in_every_place(table: pa.Table) -> None:
    assert rewrite_content(parquet(table), SEARCH) is None
    calm = parquet(pa.table({"a": [[{"b": [b"calm"]}]]}, metadata={"note": LONG[:-9]}))
    assert rewrite_content(calm, SEARCH) is calm


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>by Ann\nSmith</p>\n", f"<p>by {MASK}</p>\n"),
        ("Ann\r\n\r\n -- \r\nSmith\r\nx", f"{MASK}\r\nx"),
        ("a &lt;\n&#65;nn\nSmith\n", f"a <\n{MASK}\n"),
        ("&#65;nn Smith\n&lt;\n", f"{MASK}\n&lt;\n"),
        ("ann\n" + "-" * 70 + "\n" + "\n" * 9_000 + "smith", MASK),
        ("x\n" * 900 + "ann\nsmith\n" + "y\n" * 900, "x\n" * 900 + MASK + "\n" + "y\n" * 900),
        ('["ann"]\n["smith"]\n', '["ann"]\n["smith"]\n'),
        ('x\n  {"a": "ann smith"}\nx', f'x\n  {{"a": "{MASK}"}}\nx'),
        ('ann\n{"a": 1}\nsmith', 'ann\n{"a": 1}\nsmith'),
    ],
)
@pytest.mark.parametrize("window", [1, 7, 600, 2**18])
def test_a_value_is_found_across_lines(
    text: str, expected: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_WINDOW_CHARACTERS", window)
    assert rewritten(text.encode()) == expected.encode()


def test_each_part_of_a_long_text_is_searched_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[int] = []
    search = Forgotten.rewrite_text

    def count(self: Forgotten, text: str) -> str:
        searched.append(len(text))
        return search(self, text)

    monkeypatch.setattr(Forgotten, "rewrite_text", count)
    monkeypatch.setattr(contents, "_WINDOW_CHARACTERS", 4_000)
    for text in (b"--\n" * 30_000, b"a word on a line\n" * 9_000):
        searched.clear()
        assert rewritten(text) == text
        assert sum(searched) < 4 * len(text)
    # No window has many words, so that memory stays bounded.
    assert max(searched) < 16_000


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_text_in_a_wide_encoding_is_rewritten(encoding: str) -> None:
    text = "\ufeffone \u0141\nAnn\nSmith\n"
    assert rewritten(text.encode(encoding)) == text.replace("Ann\nSmith", MASK).encode(encoding)
    assert rewritten(calm := "\ufeffcalm".encode(encoding)) is calm


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("start", [b"", b"\0", b"\1\0", b"\xff\xfe\0"])
def test_a_binary_file_is_searched_for_wide_text_too(encoding: str, start: bytes) -> None:
    assert rewrite_content(start + " Ann Smith ".encode(encoding), SEARCH) is None
    assert rewritten(calm := start + " calm ".encode(encoding)) is calm
