// Return the data quality assertions and metrics that runs reported for the given versions, as
// JSON, latest first.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn, reports
// example: headwater cypher read/estate/version_quality --param urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (v:Artifact {urn: urn})
RETURN urn, COLLECT {
  CALL (v) {
    MATCH (:Artifact)-[e:FEEDS]->(r:PipelineRun)
    USING INDEX SEEK e:FEEDS(checkedVersion, reportedAt)
    WHERE e.checkedVersion = v.urn AND e.reportedAt IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN e, r ORDER BY e.checkedVersion DESC, e.reportedAt DESC, r.urn LIMIT $limit
    UNION ALL
    MATCH (v)<-[e:PRODUCED]-(r:PipelineRun)
    WHERE e.qualityDataset IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN e, r
  }
  WITH e, r ORDER BY e.reportedAt DESC, r.urn LIMIT $limit
  RETURN {at: e.reportedAt, run: r.urn, version: urn, assertions: e.assertions, metrics: e.metrics}
} AS reports
