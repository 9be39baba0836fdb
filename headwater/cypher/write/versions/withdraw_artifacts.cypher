// Withdraw versions that a run is no longer known to have written. A withdrawn version keeps only
// its consumers, until these are linked again.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})
SET a.status = null, a.complete = null, a.createdAt = null, a.startedAt = null,
    a.longRunningSince = null, a.writeMode = null, a.inputsHash = null
WITH a
MATCH (a)-[v:VERSION_OF]->(d:Dataset)
SET v.indexedUnder = d.urn
WITH a
MATCH (a)<-[e:PRODUCED|FEEDS]-(:PipelineRun|Artifact)
DELETE e
