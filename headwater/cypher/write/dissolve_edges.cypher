// Take away every edge of datasets whose names are joined to others or parted from them; their nodes stay.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})-[e]-()
DELETE e
