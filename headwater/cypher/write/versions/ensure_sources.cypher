// Create sources of datasets that a run read before any known run produced them.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MERGE (s:Source {urn: row.urn})
ON CREATE SET s += row.properties, s.registered = false
MERGE (s)-[:VERSION_OF]->(d)
