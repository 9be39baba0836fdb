// Return the measures that runs reported for the given datasets: the newest before an instant, and
// the earliest since then. Each comes with the version and the run. $visible: the visible
// namespaces of runs, as regular expressions; null: all.
// access: read
// params: $rows LIST<MAP>, $visible LIST<STRING> = null, $limit INTEGER = 60
// returns: number, before, since
// example: run by `headwater root-cause`
UNWIND $rows AS row
RETURN row.number AS number, COLLECT {
  CALL (row) {
    MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
    USING INDEX SEEK e:FEEDS(qualityDataset, reportedAt)
    WHERE e.qualityDataset = row.dataset AND e.reportedAt < row.at AND e.metrics IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r ORDER BY e.qualityDataset DESC, e.reportedAt DESC LIMIT $limit
    UNION ALL
    MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
    USING INDEX SEEK e:PRODUCED(qualityDataset, reportedAt)
    WHERE e.qualityDataset = row.dataset AND e.reportedAt < row.at AND e.metrics IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r ORDER BY e.qualityDataset DESC, e.reportedAt DESC LIMIT $limit
  }
  RETURN {version: v.urn, made: v.createdAt, complete: v.complete, run: r.urn, at: e.reportedAt,
    metrics: e.metrics}
} AS before, COLLECT {
  CALL (row) {
    MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
    USING INDEX SEEK e:FEEDS(qualityDataset, reportedAt)
    WHERE e.qualityDataset = row.dataset AND e.reportedAt >= row.at AND e.metrics IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r ORDER BY e.qualityDataset, e.reportedAt LIMIT $limit
    UNION ALL
    MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
    USING INDEX SEEK e:PRODUCED(qualityDataset, reportedAt)
    WHERE e.qualityDataset = row.dataset AND e.reportedAt >= row.at AND e.metrics IS NOT NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN v, e, r ORDER BY e.qualityDataset, e.reportedAt LIMIT $limit
  }
  RETURN {version: v.urn, made: v.createdAt, complete: v.complete, run: r.urn, at: e.reportedAt,
    metrics: e.metrics}
} AS since
