// Withdraw versions that a run is no longer known to have written. A withdrawn version keeps only
// its name and its consumers, until these are linked again.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})
SET a = {urn: a.urn, dataset: a.dataset, namespace: a.namespace, name: a.name, runId: a.runId}
WITH a
MATCH (a)-[v:VERSION_OF]->(d:Dataset)
SET v.indexedUnder = d.urn
WITH a
CALL (a) {
  MATCH (a)<-[e:PRODUCED|FEEDS]-(:PipelineRun|Artifact)
  DELETE e
}
CALL (a) {
  MATCH (a)-[e:DERIVED_FROM|HAS_SCHEMA]->()
  DELETE e
}
