// Return what runs reported about the quality of the given datasets and their versions, as JSON,
// latest first, each with the job of the run. A version that a run read or wrote has one report.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 200
// returns: urn, reports
// example: headwater cypher read/findings/dataset_reports --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})
RETURN urn, COLLECT {
  CALL (urn) {
    MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
    USING INDEX SEEK e:FEEDS(qualityDataset, reportedAt)
    WHERE e.qualityDataset = urn AND e.reportedAt IS NOT NULL
    RETURN v, e, r, false AS isWrite
    ORDER BY e.qualityDataset DESC, e.reportedAt DESC, r.urn, coalesce(v.complete, true) DESC,
      v.urn LIMIT $limit
    UNION ALL
    MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
    USING INDEX SEEK e:PRODUCED(qualityDataset, reportedAt)
    WHERE e.qualityDataset = urn AND e.reportedAt IS NOT NULL
    RETURN v, e, r, true AS isWrite
    ORDER BY e.qualityDataset DESC, e.reportedAt DESC, r.urn, coalesce(v.complete, true) DESC,
      v.urn LIMIT $limit
  }
  WITH v, e, r, isWrite ORDER BY e.reportedAt DESC, r.urn, coalesce(v.complete, true) DESC,
    v.urn LIMIT $limit
  RETURN {at: e.reportedAt, run: r.urn, namespace: r.namespace, pipeline: r.pipelineName,
    version: v.urn, isWrite: isWrite, assertions: e.assertions, metrics: e.metrics}
} AS reports
