// Take away every edge of datasets whose names are joined to others or parted from them; their nodes and
// names stay.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})-[e:!SYMLINK_OF]-()
DELETE e
