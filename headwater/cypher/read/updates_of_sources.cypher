// When some sources were captured, and the metrics, JSON, in which runs that read them told when they were updated, those
// of the newest runs first.
// access: read
// params: $urns LIST<STRING>, $sees LIST<STRING> = null, $limit INTEGER = 100
// returns: urn, dataset, captured, metrics
// example: headwater cypher read/updates_of_sources --param urns=source:file:/raw/planes
UNWIND $urns AS urn
MATCH (s:Source {urn: urn})
RETURN urn, s.dataset AS dataset, s.capturedAt AS captured, COLLECT {
  MATCH (s)-[e:FEEDS]->(r:PipelineRun)
  WHERE e.metrics CONTAINS '"lastUpdated"' AND ($sees IS NULL OR any(p IN $sees WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) })
  RETURN e.metrics ORDER BY r.startedAt DESC, r.urn LIMIT $limit
} AS metrics
