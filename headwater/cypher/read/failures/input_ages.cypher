// Return how old the inputs of the given runs were. For each dataset, return the versions that the
// run read and the time at which the newest was written, or the source captured. Return the same
// for the newest earlier successful runs of its job that read the dataset.
// access: read
// params: $urns LIST<STRING>, $earlier INTEGER = 10
// returns: run, at, pipeline, dataset, name, versions, made, isSource, earlier
// example: headwater cypher read/failures/input_ages --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
WHERE r.startedAt IS NOT NULL
WITH r, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job
WITH r, COLLECT {
  UNWIND ['both', 'reads'] AS sides
  CALL (r, job, sides) {
    MATCH (p:PipelineRun)
    USING INDEX SEEK p:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE p.namespace = job.namespace AND p.pipelineName = job.name AND p.reportedSides = sides
      AND p.finishedAt <= r.startedAt
    RETURN p ORDER BY p.namespace DESC, p.pipelineName DESC, p.reportedSides DESC,
      p.finishedAt DESC LIMIT $earlier
  }
  RETURN p ORDER BY p.finishedAt DESC LIMIT $earlier
} AS before
MATCH (v:Source|Artifact)-[:FEEDS]->(r)
WITH r, before, v.dataset AS dataset, min(v.name) AS name, collect(v.urn) AS versions,
  max(CASE WHEN v:Source THEN 1 ELSE 0 END) = 1 AS isSource,
    max(coalesce(v.createdAt, v.capturedAt)) AS made
WHERE made IS NOT NULL
RETURN r.urn AS run, r.startedAt AS at, r.pipelineName AS pipeline, dataset, name, versions, made,
  isSource, COLLECT {
  UNWIND before AS p
  MATCH (w:Source|Artifact)-[:FEEDS]->(p)
  WHERE w.dataset = dataset
  WITH p, max(coalesce(w.createdAt, w.capturedAt)) AS madeThen
  WHERE madeThen IS NOT NULL
  RETURN {run: p.urn, at: p.startedAt, made: madeThen} ORDER BY p.finishedAt DESC, p.urn
} AS earlier
