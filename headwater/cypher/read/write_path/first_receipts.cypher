// Return when undated events were first received, in microseconds since 1970.
// access: read
// params: $urns LIST<STRING>
// returns: urn, received
// example: run by the worker
UNWIND $urns AS urn
MATCH (n:Receipt {urn: urn})
RETURN urn, n.receivedAt.epochSeconds * 1000000 + n.receivedAt.microsecond AS received
