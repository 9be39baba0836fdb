"""JSON with values that Python or strict parsers refuse."""

from __future__ import annotations

import msgspec
import pytest

from headwater.errors import EventError
from headwater.schema.stored_json import decode, decode_struct, encode, no_number

HUGE = b"9" * 5_000


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (b'{"v":1.5}', b'{"v":1.5}'),
        (b'{"v":1e999}', b'{"v":1e999}'),
        (b'{"v":[-1E999,1]}', b'{"v":[-1E999,1]}'),
        (b'{"v":' + HUGE + b"}", b'{"v":' + HUGE + b"}"),
        (b'{"v":-' + HUGE + b".5}", b'{"v":-' + HUGE + b".5}"),
        (b'{"v":"\\ud800","w":1e999}', '{"v":"\ufffd","w":1e999}'.encode()),
        (b'{"v":"\xff"}', '{"v":"\ufffd"}'.encode()),
        (b"\xef\xbb\xbf[1]", b"[1]"),
        ('["\u20ac"]'.encode("utf-16"), '["\u20ac"]'.encode()),
        (b"[NaN,Infinity,-Infinity]", b"[null,null,null]"),
    ],
)
def test_a_value_is_written_as_it_was_read(body: bytes, written: bytes) -> None:
    assert encode(decode(body)) == written


def test_a_caller_may_leave_out_numbers_that_python_cannot_hold() -> None:
    body = b"[1e999," + HUGE + b",1]"
    assert decode(body, out_of_range=no_number) == [None, None, 1]


@pytest.mark.parametrize("body", [b"", b"{", b"[1,]", b'"\x01"', b"[" * 3_000 + b"]" * 3_000])
def test_what_is_no_json_is_an_error(body: bytes) -> None:
    with pytest.raises(EventError) as refused:
        decode(body)
    assert refused.value.status == 400


class Head(msgspec.Struct):
    name: str = ""


@pytest.mark.parametrize(
    "body",
    [
        b'{"v":"\\ud800","name":"a"}',
        b'\xef\xbb\xbf{"name":"a"}',
        b'{"v":1e999,"name":"a"}',
        b'{"v":' + HUGE + b',"name":"a"}',
    ],
)
def test_a_field_is_read_beside_values_that_python_cannot_hold(body: bytes) -> None:
    assert decode_struct(msgspec.json.Decoder(Head), body) == Head("a")


def test_a_text_with_a_lone_surrogate_is_written_with_a_question_mark() -> None:
    assert encode({"file": "\udcff"}) == b'{"file": "?"}'
