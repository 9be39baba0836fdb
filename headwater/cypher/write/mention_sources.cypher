// Sources known only because something read the dataset before anything is known to have produced it.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MERGE (s:Source {urn: row.urn})
ON CREATE SET s += row.properties, s.registered = false
MERGE (s)-[:VERSION_OF]->(d)
