// Return a page of the nodes of one label after a urn, in the order of their urns. `heartbeatLost`
// marks a run, or a version it wrote, that is abandoned only because no events arrived. `cameFrom`
// lists the datasets of the versions from which a version derives. `began` is the start of the run
// that wrote a version. `labels` are those by type.
// access: read
// params: $label STRING, $after STRING, $limit INTEGER
// returns: urn, properties, labels, heartbeatLost, cameFrom, began
// example: run by `headwater export`
WITH $label AS label, $after AS after
CALL (label, after) {
  WITH label, after WHERE label = 'Answer'
  MATCH (n:Answer) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Artifact'
  MATCH (n:Artifact) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Column'
  MATCH (n:Column) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'ConformanceFinding'
  MATCH (n:ConformanceFinding) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Dataset'
  MATCH (n:Dataset) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Job'
  MATCH (n:Job) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'PipelineRun'
  MATCH (n:PipelineRun) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Producer'
  MATCH (n:Producer) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Receipt'
  MATCH (n:Receipt) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'RunSummary'
  MATCH (n:RunSummary) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'SchemaVersion'
  MATCH (n:SchemaVersion) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Source'
  MATCH (n:Source) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Symlink'
  MATCH (n:Symlink) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Tag'
  MATCH (n:Tag) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
}
WITH n, label, CASE
  WHEN n.status <> 'ABANDONED' OR n.status IS NULL THEN []
  WHEN label = 'Artifact' THEN [(maker:PipelineRun)-[:PRODUCED]->(n) | maker]
  ELSE [n] END AS runs
RETURN n.urn AS urn, properties(n) AS properties, [l IN labels(n) WHERE l <> label] AS labels,
  any(r IN runs WHERE r.heartbeatLost AND NOT EXISTS {
  (r)-[:PART_OF]->{1,8}(a:PipelineRun)
  WHERE coalesce(a.lastEnd, a.finishedAt) >= coalesce(r.lastSeen, a.lastEnd, a.finishedAt)
}) AS heartbeatLost, [(n:Artifact)-[:DERIVED_FROM]->(v) | v.dataset] AS cameFrom,
  CASE WHEN n:Artifact THEN [(n)<-[:PRODUCED]-(r:PipelineRun) | r.startedAt][0] END AS began
ORDER BY urn
