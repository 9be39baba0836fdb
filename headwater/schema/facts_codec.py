"""Pack facts for a node: JSON, compressed by Zstandard (RFC 8878) with a dictionary.

The dictionary has the common parts of facts of common producers. Packed facts take a sixth to a
tenth of their JSON, and are most of the size of a run in the graph. Frames omit the magic number,
the checksum and the id of the dictionary: four bytes each, of about two hundred.
"""

from __future__ import annotations

import threading
from importlib.resources import files

import msgspec
import zstandard

# Higher levels save two bytes and take twice the time.
_LEVEL = 5


class _Packing(threading.local):
    """The compressor and decompressor of one thread; neither may be shared."""

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
# Built by scripts/dictionary.py. Never change it: stored facts were packed with it.
_DICTIONARY = zstandard.ZstdCompressionDict(
    files("headwater.schema").joinpath("facts_codec.dictionary").read_bytes()
)
_DICTIONARY.precompute_compress(compression_params=_PARAMETERS)
_packing = _Packing()


def pack(facts: msgspec.Struct) -> bytes:
    """Pack facts; one version of Zstandard gives equal facts equal bytes."""
    return pack_json(msgspec.json.encode(facts, order="sorted"))


def pack_json(text: bytes) -> bytes:
    """Pack facts that are JSON already."""
    # A copy: the bytes from the packer keep the room of the whole text as long as they live.
    return bytes(memoryview(_packing.packer.compress(text)))


def unpack_json(packed: bytes) -> str:
    """Unpack facts to JSON. Raises ValueError for other bytes."""
    try:
        return _packing.unpacker.decompress(packed).decode()
    except zstandard.ZstdError as error:
        raise ValueError(f"the bytes are no packed facts: {error}") from error
