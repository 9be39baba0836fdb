// Return a page of the nodes of one label after a urn, in the order of their urns, each with its
// outgoing edges. `derived` of an edge holds the properties that its target node stores for it.
// access: read
// params: $label STRING, $after STRING, $limit INTEGER
// returns: urn, edges
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
  WITH label, after WHERE label = 'RunSummary'
  MATCH (n:RunSummary) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Source'
  MATCH (n:Source) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
  UNION ALL
  WITH label, after WHERE label = 'Symlink'
  MATCH (n:Symlink) WHERE n.urn > after
  RETURN n ORDER BY n.urn LIMIT $limit
}
RETURN n.urn AS urn, [(n)-[e]->(m) | {type: type(e), target: m.urn, properties: properties(e),
  derived: CASE WHEN type(e) = 'PRODUCED' THEN m {.rowCount, .bytes} ELSE {} END}] AS edges
ORDER BY urn
