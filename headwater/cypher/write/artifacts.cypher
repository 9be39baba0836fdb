// The version of a dataset that a run produced.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
MATCH (d:Dataset {urn: row.dataset})
MERGE (a:Artifact {urn: row.urn})
SET a += row.properties
MERGE (r)-[p:PRODUCED]->(a)
SET p += row.produced
MERGE (a)-[:VERSION_OF]->(d)
