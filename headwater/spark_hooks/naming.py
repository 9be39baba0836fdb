"""Name a path as the OpenLineage listener does, so that a citation names the dataset the listener
reported.

A dataset is a namespace and a name: `/data/x` is (`file`, `/data/x`), `s3a://lake/x` is
(`s3://lake`, `x`), `hdfs://node:8020/x` is (`hdfs://node:8020`, `/x`). The listener removes folders
of partitions from the end (`dt=2024-01-31`, `2024-01-31`, `2024/01/31`), and so does this module. A
test compares every rule here with the listener's own classes.
"""

from __future__ import annotations

import re
from datetime import datetime

_PARTS = re.compile(r"(?:([a-zA-Z][a-zA-Z0-9+.\-]*):)?(?://([^/]*))?(.*)", re.DOTALL)
# The scheme that the listener writes for stores with several spellings.
_OBJECT_STORES = {"s3": "s3", "gs": "gs", "abfs": "abfss", "wasb": "wasbs"}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{2}\.\d{2}\.\d{4}|\d{8}")
_DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%Y%m%d")


def _is_date(text: str, *formats: str) -> bool:
    for form in formats:
        try:
            parsed = datetime.strptime(text, form)
        except ValueError:
            continue
        # strptime accepts a month of one digit; the listener does not.
        if parsed.strftime(form).zfill(len(text)) == text:
            return True
    return False


def _is_partition(folder: str) -> bool:
    """Return True for `key=value`, a month, or a day with only digits and separators around it."""
    if folder.count("=") == 1 or _is_date(folder, "%Y%m", "%Y-%m"):
        return True
    match = _DATE.search(folder)
    if match is None or not _is_date(match[0], *_DATE_FORMATS):
        return False
    rest = folder.replace(match[0], "", 1).replace("T", "", 1).replace("Z", "", 1)
    return re.fullmatch(r"[\d\s:.\-]*", rest) is not None


def without_partitions(name: str) -> str:
    """Return the name of the dataset that a folder of one day, month or key belongs to."""
    while True:
        folders = name.strip("/").split("/")
        if len(folders) > 3 and _is_date("".join(folders[-3:]), "%Y%m%d"):
            cut = 3
        elif len(folders) > 2 and _is_date("".join(folders[-2:]), "%Y%m"):
            cut = 2
        elif len(folders) > 1 and _is_partition(folders[-1]):
            cut = 1
        else:
            return name
        name = name.rstrip("/").rsplit("/", cut)[0]


def dataset_name(path: str) -> tuple[str, str]:
    """Return (namespace, name) of an absolute path, with or without its file system.

    The path is one of Spark, not a URL: `%20` in it is three characters, and `?` begins no query.
    """
    scheme, authority, folders = _PARTS.fullmatch(path).groups("")  # type: ignore[union-attr]
    name = without_partitions(folders.rstrip("/") or "/")
    if scheme in {"", "file"}:
        return "file", name
    for prefix, canonical in _OBJECT_STORES.items():
        if scheme.startswith(prefix):
            return f"{canonical}://{authority}", without_partitions(folders.strip("/") or "/")
    return f"{scheme}://{authority}" if authority else scheme, name
