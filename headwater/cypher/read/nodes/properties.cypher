// Return the given nodes with their properties, without their facts. `began` is the start of the
// run that wrote a version.
// access: read
// params: $urns LIST<STRING>
// returns: urn, label, properties, began
// example: headwater cypher read/nodes/properties --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn}) RETURN n, 'Dataset' AS label
  UNION ALL
  MATCH (n:Job {urn: urn}) RETURN n, 'Job' AS label
  UNION ALL
  MATCH (n:PipelineRun {urn: urn}) RETURN n, 'PipelineRun' AS label
  UNION ALL
  MATCH (n:Source {urn: urn}) RETURN n, 'Source' AS label
  UNION ALL
  MATCH (n:Artifact {urn: urn}) RETURN n, 'Artifact' AS label
  UNION ALL
  MATCH (n:Answer {urn: urn}) RETURN n, 'Answer' AS label
  UNION ALL
  MATCH (n:Column {urn: urn}) RETURN n, 'Column' AS label
  UNION ALL
  MATCH (n:SchemaVersion {urn: urn}) RETURN n, 'SchemaVersion' AS label
}
RETURN urn, label, n {.*, facts: null} AS properties,
  CASE label WHEN 'Artifact' THEN [(n)<-[:PRODUCED]-(r:PipelineRun) | r.startedAt][0] END AS began
