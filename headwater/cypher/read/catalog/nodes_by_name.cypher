// Return the datasets and jobs of a name, and the answers and runs whose urns are in $ids.
// access: read
// params: $name STRING, $ids LIST<STRING>, $limit INTEGER = 1000
// returns: urn
// example: run by `headwater lineage planes`
CALL () {
  MATCH (n:Dataset {name: $name}) RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (n:Job {name: $name}) RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  UNWIND $ids AS id MATCH (n:Answer {urn: id}) RETURN n.urn AS urn
  UNION ALL
  UNWIND $ids AS id MATCH (n:PipelineRun {urn: id}) RETURN n.urn AS urn
}
RETURN urn ORDER BY urn LIMIT $limit
