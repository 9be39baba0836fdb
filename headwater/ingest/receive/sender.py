"""Name the sender of an event in the event: the namespaces that its key may describe.

A run id is no secret, so two teams may report the same one, by mistake or not. The fold keeps them
apart by this field (`headwater.schema.run_senders`). It is part of the stored event, so that a
rebuild decides as the first fold did. Events of unrestricted keys keep the field that they have:
such a key may send the stored events of others again.
"""

from __future__ import annotations

import codecs

import msgspec

from headwater.access.events import ForeignEventError
from headwater.access.principal import Principal
from headwater.schema.events import SENDER_FIELD, replace_surrogates

_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def with_sender(principal: Principal, body: bytes) -> bytes:
    """Return an event of a restricted key with its namespaces, another event as it is.

    Raises ForeignEventError for a body that cannot be rewritten.
    """
    if principal.writable.is_unrestricted:
        return body
    body = body.removeprefix(codecs.BOM_UTF8)
    namespaces = msgspec.json.encode(sorted(principal.writable.patterns))
    try:
        event = _decoded(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ForeignEventError("the event cannot be rewritten", field=SENDER_FIELD) from error
    event[SENDER_FIELD] = msgspec.Raw(namespaces)
    return msgspec.json.encode(event)


def _decoded(body: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _decoder.decode(body)
    except msgspec.DecodeError:
        # The parser of events reads such a body, too.
        return _decoder.decode(replace_surrogates(body))
