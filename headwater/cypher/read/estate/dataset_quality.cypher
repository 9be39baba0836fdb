// Return the data quality assertions and metrics that runs reported for the given datasets and
// their versions, as JSON, latest first.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn, reports
// example: headwater cypher read/estate/dataset_quality --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})
RETURN urn, COLLECT {
  CALL (urn) {
    MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
    USING INDEX SEEK e:FEEDS(qualityDataset, reportedAt)
    WHERE e.qualityDataset = urn AND e.reportedAt IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r
    ORDER BY e.qualityDataset DESC, e.reportedAt DESC, r.urn, coalesce(v.complete, true) DESC,
      v.urn LIMIT $limit
    UNION ALL
    MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
    USING INDEX SEEK e:PRODUCED(qualityDataset, reportedAt)
    WHERE e.qualityDataset = urn AND e.reportedAt IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r
    ORDER BY e.qualityDataset DESC, e.reportedAt DESC, r.urn, coalesce(v.complete, true) DESC,
      v.urn LIMIT $limit
  }
  WITH v, e, r ORDER BY e.reportedAt DESC, r.urn, coalesce(v.complete, true) DESC,
    v.urn LIMIT $limit
  RETURN {at: e.reportedAt, run: r.urn, version: v.urn, assertions: e.assertions,
    metrics: e.metrics}
} AS reports
