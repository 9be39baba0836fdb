// Set when each schema of a dataset was first observed. An earlier time replaces a later one.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MATCH (s:SchemaVersion {urn: row.schema})
MERGE (d)-[e:HAS_SCHEMA]->(s)
SET e.firstSeen = row.first
