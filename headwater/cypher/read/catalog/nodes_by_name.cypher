// Return the datasets and jobs of a name, and the answers and runs whose urns are in $ids. An alias
// is a name of its dataset. $visible: the namespaces of datasets, jobs and aliases, as regular
// expressions; null: any.
// access: read
// params: $name STRING, $ids LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn
// example: run by `headwater lineage planes`
CALL () {
  MATCH (n:Dataset {name: $name})
  WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
  RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (s:Symlink {name: $name})
  WHERE $visible IS NULL OR any(p IN $visible WHERE s.namespace =~ p)
  MATCH (s)-[:SYMLINK_OF]->(n:Dataset)
  WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
  RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (n:Job {name: $name})
  WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
  RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  UNWIND $ids AS id MATCH (n:Answer {urn: id}) RETURN n.urn AS urn
  UNION ALL
  UNWIND $ids AS id MATCH (n:PipelineRun {urn: id}) RETURN n.urn AS urn
}
RETURN DISTINCT urn ORDER BY urn
