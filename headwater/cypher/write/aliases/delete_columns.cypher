// Delete the columns of datasets whose names are joined or split.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})-[:HAS_COLUMN]->(c:Column)
DETACH DELETE c
