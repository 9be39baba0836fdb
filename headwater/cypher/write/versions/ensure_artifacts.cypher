// Create versions that an event names before any event of the run that wrote them.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MERGE (a:Artifact {urn: row.urn})
ON CREATE SET a += row.properties
MERGE (a)-[e:VERSION_OF]->(d)
SET e.indexedUnder = CASE WHEN a.complete IS NULL OR a.createdAt IS NULL THEN d.urn END
