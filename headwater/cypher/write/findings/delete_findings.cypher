// Delete findings that the history no longer shows.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by `headwater detect`
UNWIND $urns AS urn
MATCH (f:Finding {urn: urn})
DELETE f
