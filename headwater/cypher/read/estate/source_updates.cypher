// Return when the given sources were captured, with the metrics, as JSON, in which reading runs
// reported the last update, latest first.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 100
// returns: urn, dataset, captured, metrics
// example: headwater cypher read/estate/source_updates --param urns=source:file:/raw/planes
UNWIND $urns AS urn
MATCH (s:Source {urn: urn})
RETURN urn, s.dataset AS dataset, s.capturedAt AS captured, COLLECT {
  MATCH (:Source)-[e:FEEDS]->(r:PipelineRun)
  USING INDEX SEEK e:FEEDS(updatedVersion, reportedAt)
  WHERE e.updatedVersion = urn AND e.reportedAt IS NOT NULL
    AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN e.metrics ORDER BY e.updatedVersion DESC, e.reportedAt DESC, r.urn LIMIT $limit
} AS metrics
