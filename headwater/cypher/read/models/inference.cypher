// Return the newest complete versions of the given models, with what each training read, and the
// newest reports of the runs that read the model on what else they read.
// access: read
// params: $urns LIST<STRING>, $versions INTEGER = 20, $limit INTEGER = 200
// returns: urn, versions, reports
// example: headwater findings --rule feature-drift
UNWIND $urns AS urn
MATCH (m:Dataset {urn: urn})
USING INDEX m:Dataset(urn)
WHERE m:Model
RETURN urn, COLLECT {
  MATCH (v:Artifact)
  USING INDEX SEEK v:Artifact(dataset, complete, createdAt)
  WHERE v.dataset = urn AND v.complete = true AND v.createdAt IS NOT NULL
  WITH v ORDER BY v.createdAt DESC, v.urn LIMIT $versions
  RETURN {urn: v.urn, at: v.createdAt,
    fields: head([(v)-[:HAS_SCHEMA]->(s:SchemaVersion) | s.fields]),
    inputs: COLLECT {
      MATCH (i:Source|Artifact)-[:FEEDS]->(:PipelineRun)-[:PRODUCED]->(v)
      RETURN [i.dataset, i.urn] ORDER BY i.urn LIMIT 1000
    }}
} AS versions, COLLECT {
  MATCH (m)<-[:VERSION_OF]-(v:Artifact)-[:FEEDS]->(r:PipelineRun)<-[e:FEEDS]-(i:Source|Artifact)
  WHERE i.dataset <> urn AND e.metrics IS NOT NULL AND e.reportedAt IS NOT NULL
  WITH DISTINCT r, e, i ORDER BY e.reportedAt DESC, r.urn, i.urn LIMIT $limit
  RETURN {at: e.reportedAt, run: r.urn, dataset: i.dataset, metrics: e.metrics,
    versions: COLLECT { MATCH (u:Artifact {dataset: urn})-[:FEEDS]->(r) RETURN u.urn }}
} AS reports
