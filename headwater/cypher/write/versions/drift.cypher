// Set how the schema of a version differs from that of the complete version before it.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Artifact {urn: row.artifact})
SET a.drift = row.drift
