// Return the newest complete and the newest incomplete versions of the given datasets, with the
// runs and jobs that wrote them. The index is read backwards, as in read/versions/timelines.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 200
// returns: urn, versions
// example: headwater cypher read/findings/dataset_versions --param urns=dataset:file:/marts/delays
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  CALL (d) {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt IS NOT NULL
    RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT $limit
    UNION
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = d.urn AND a.complete = false AND a.createdAt IS NOT NULL
    RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT $limit
    UNION
    MATCH (a:Artifact)-[e:VERSION_OF]->(:Dataset)
    USING INDEX SEEK e:VERSION_OF(indexedUnder)
    WHERE e.indexedUnder = d.urn AND a.createdAt IS NOT NULL
    RETURN a ORDER BY a.createdAt DESC LIMIT $limit
  }
  WITH a, [(r:PipelineRun)-[:PRODUCED]->(a) | r][0] AS r
  RETURN [a.urn, a.createdAt, a.complete, a.rowCount, a.bytes, a.writeMode, a.schemaHash, r.urn,
    r.namespace, r.pipelineName] ORDER BY a.createdAt, a.urn
} AS versions
