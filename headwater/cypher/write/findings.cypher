// Findings: which rule a producer breaks at which field, how often, and one example.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (n:Finding {urn: row.urn})
SET n += row.properties
