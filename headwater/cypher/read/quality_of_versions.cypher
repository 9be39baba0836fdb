// What runs said of the quality of some versions, the newest runs first: assertions and metrics as they were sent, JSON.
// access: read
// params: $urns LIST<STRING>, $sees LIST<STRING> = null, $limit INTEGER = 200
// returns: urn, said
// example: headwater cypher read/quality_of_versions --param urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (v:Artifact {urn: urn})
RETURN urn, COLLECT {
  MATCH (v)-[e:FEEDS|PRODUCED]-(r:PipelineRun)
  WHERE (e.assertions IS NOT NULL OR e.metrics IS NOT NULL)
    AND ($sees IS NULL OR any(p IN $sees WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) })
  WITH v, e, r ORDER BY coalesce(r.finishedAt, r.lastSeen) DESC, r.urn LIMIT $limit
  RETURN {at: coalesce(r.finishedAt, r.lastSeen), run: r.urn, version: v.urn, assertions: e.assertions, metrics: e.metrics}
} AS said
