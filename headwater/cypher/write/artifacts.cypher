// The version of a dataset that a run produced. One that is not found by its dataset and the time at which it was made,
// because nobody told that, stands aside.
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
MERGE (a)-[e:VERSION_OF]->(d)
SET e.indexedUnder = CASE WHEN a.complete IS NULL OR a.createdAt IS NULL THEN d.urn END
