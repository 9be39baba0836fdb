// Return the newest complete version of a dataset written by the runs that triggered a run, up to
// five triggers upstream.
// access: read
// params: $rows LIST<MAP>
// returns: consumer, dataset, made, version
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.consumer})<-[:TRIGGERS]-{1,5}(w:PipelineRun)
WITH DISTINCT row, w
MATCH (w)-[:PRODUCED]->(a:Artifact {dataset: row.dataset})
WHERE a.complete AND a.createdAt IS NOT NULL AND w.urn <> row.consumer
WITH row, a ORDER BY a.createdAt DESC, a.urn DESC
WITH row, collect(a)[0] AS newest
RETURN row.consumer AS consumer, row.dataset AS dataset, newest.createdAt AS made,
  newest.urn AS version
