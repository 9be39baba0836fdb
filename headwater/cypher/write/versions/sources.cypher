// Set registered sources with their reported properties.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MERGE (s:Source {urn: row.urn})
SET s += row.properties
MERGE (s)-[:VERSION_OF]->(d)
