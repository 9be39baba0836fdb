// Return the datasets and jobs of a name, and the answers and runs whose urns are in $ids. A
// dataset that has the name as an alias comes with the namespace of that alias.
// access: read
// params: $name STRING, $ids LIST<STRING>, $limit INTEGER = 1000
// returns: urn, alias_namespace
// example: run by `headwater lineage planes`
CALL () {
  MATCH (n:Dataset {name: $name}) RETURN n.urn AS urn, null AS alias_namespace LIMIT $limit
  UNION ALL
  MATCH (s:Symlink {name: $name})-[:SYMLINK_OF]->(n:Dataset)
  RETURN n.urn AS urn, s.namespace AS alias_namespace LIMIT $limit
  UNION ALL
  MATCH (n:Job {name: $name}) RETURN n.urn AS urn, null AS alias_namespace LIMIT $limit
  UNION ALL
  UNWIND $ids AS id MATCH (n:Answer {urn: id}) RETURN n.urn AS urn, null AS alias_namespace
  UNION ALL
  UNWIND $ids AS id MATCH (n:PipelineRun {urn: id}) RETURN n.urn AS urn, null AS alias_namespace
}
RETURN urn, alias_namespace ORDER BY urn LIMIT $limit
