"""Name the sender of a run event in the event: the namespaces that its key may describe.

A run id is no secret, so two teams may report the same one, by mistake or not. The fold tells them
apart by this facet (`headwater.schema.run_senders`). It is part of the stored event, so that a
rebuild decides as the first fold did. Events of unrestricted keys keep the facet that they have:
such a key may send the stored events of others again.
"""

from __future__ import annotations

from headwater.access.events import ForeignEventError
from headwater.access.principal import Principal
from headwater.ingest.receive.run_facets import with_run_facet
from headwater.schema.events import Event, replace_surrogates
from headwater.schema.headwater_facets import SENDER_FACET


def with_sender(principal: Principal, body: bytes, event: Event) -> bytes:
    """Return a run event with the namespaces of its sender, other events as they are.

    `event` is parsed from the body. Raises ForeignEventError for a body that cannot be rewritten.
    """
    if event.run is None or principal.writable.is_unrestricted:
        return body
    facet = {"namespaces": sorted(principal.writable.patterns)}
    named = with_run_facet(body, SENDER_FACET, facet)
    if named is None:
        named = with_run_facet(replace_surrogates(body), SENDER_FACET, facet)
    if named is None:
        raise ForeignEventError("the facets of the run cannot be read", field="run.facets")
    return named
