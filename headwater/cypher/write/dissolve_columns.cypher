// Take away the columns of datasets whose names are joined to others or parted from them.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})-[:HAS_COLUMN]->(c:Column)
DETACH DELETE c
