"""How facts are kept in a node: their JSON, packed by Zstandard (RFC 8878) with a dictionary of
what facts of common producers have in common. A sixth to a tenth of the text's size, which is most
of what a run takes up in the graph.

The frames have neither magic number nor checksum nor the dictionary's id: four bytes each, of some
two hundred.
"""

from __future__ import annotations

import threading
from importlib.resources import files

import msgspec
import zstandard

# Two bytes more or less than higher levels leave, in half of the time.
_LEVEL = 5


class _Packing(threading.local):
    """What packs and unpacks in one thread: none of these may be used by two at once."""

    def __init__(self) -> None:
        self.packer = zstandard.ZstdCompressor(
            dict_data=_DICTIONARY, compression_params=_PARAMETERS
        )
        self.unpacker = zstandard.ZstdDecompressor(
            dict_data=_DICTIONARY, format=zstandard.FORMAT_ZSTD1_MAGICLESS
        )


_PARAMETERS = zstandard.ZstdCompressionParameters.from_level(
    _LEVEL,
    format=zstandard.FORMAT_ZSTD1_MAGICLESS,
    write_content_size=True,
    write_checksum=False,
    write_dict_id=False,
)
# Made by scripts/dictionary.py. Never to be changed: what is kept was packed with it.
_DICTIONARY = zstandard.ZstdCompressionDict(
    files("headwater.schema").joinpath("facts_codec.dictionary").read_bytes()
)
_DICTIONARY.precompute_compress(compression_params=_PARAMETERS)
_packing = _Packing()


def pack(facts: msgspec.Struct) -> bytes:
    """Facts as a node keeps them: the same facts give the same bytes with one version of
    Zstandard.
    """
    return pack_json(msgspec.json.encode(facts, order="sorted"))


def pack_json(text: bytes) -> bytes:
    """The same, of facts that are JSON already."""
    return _packing.packer.compress(text)


def unpack_json(kept: bytes) -> str:
    """The JSON in what `keep` made. Raises ValueError when it is nothing of the kind."""
    try:
        return _packing.unpacker.decompress(kept).decode()
    except zstandard.ZstdError as error:
        raise ValueError(f"these bytes are no facts: {error}") from error
