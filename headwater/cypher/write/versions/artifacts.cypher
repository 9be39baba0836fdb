// Set the version of a dataset that a run wrote. The VERSION_OF edge has `indexedUnder` if the
// index of the dataset's versions misses this version, because `complete` or `createdAt` is
// unknown.
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
