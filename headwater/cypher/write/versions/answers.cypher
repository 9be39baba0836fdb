// Set the properties of answers.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MERGE (n:Answer {urn: row.urn})
SET n += row.properties, n.factsRevision = l.revision
