// Withdraw versions that a run is no longer known to have written. A withdrawn version keeps only
// its consumers, until these are linked again.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})
SET a.status = null, a.complete = null, a.createdAt = null, a.startedAt = null,
    a.longRunningSince = null
WITH a
MATCH (a)-[v:VERSION_OF]->(d:Dataset)
SET v.indexedUnder = d.urn
WITH a
MATCH (a)<-[p:PRODUCED]-(:PipelineRun)
DELETE p
