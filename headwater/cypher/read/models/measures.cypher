// Return the measures that runs reported of the given datasets, latest first. $visible: the visible
// namespaces of runs, as regular expressions; null: all.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn, reports
// example: headwater model check churn --input today
UNWIND $urns AS urn
RETURN urn, COLLECT {
  CALL (urn) {
    MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
    USING INDEX SEEK e:FEEDS(qualityDataset, reportedAt)
    WHERE e.qualityDataset = urn AND e.reportedAt IS NOT NULL AND e.metrics IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r ORDER BY e.qualityDataset DESC, e.reportedAt DESC, r.urn, v.urn LIMIT $limit
    UNION ALL
    MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
    USING INDEX SEEK e:PRODUCED(qualityDataset, reportedAt)
    WHERE e.qualityDataset = urn AND e.reportedAt IS NOT NULL AND e.metrics IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r ORDER BY e.qualityDataset DESC, e.reportedAt DESC, r.urn, v.urn LIMIT $limit
  }
  RETURN {version: v.urn, made: v.createdAt, run: r.urn, at: e.reportedAt, metrics: e.metrics}
} AS reports
