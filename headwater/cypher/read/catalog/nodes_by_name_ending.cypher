// Return the datasets, jobs and answers whose name ends with one of these texts. A dataset with
// such an alias comes with the namespace of that alias.
// access: read
// params: $endings LIST<STRING>, $limit INTEGER = 1000
// returns: urn, alias_namespace
// example: run by `headwater lineage raw/planes`
UNWIND $endings AS ending
CALL (ending) {
  MATCH (n:Dataset) WHERE n.name ENDS WITH ending
  RETURN n.urn AS urn, null AS alias_namespace LIMIT $limit
  UNION ALL
  MATCH (s:Symlink) WHERE s.name ENDS WITH ending
  MATCH (s)-[:SYMLINK_OF]->(n:Dataset)
  RETURN n.urn AS urn, s.namespace AS alias_namespace LIMIT $limit
  UNION ALL
  MATCH (n:Job) WHERE n.name ENDS WITH ending
  RETURN n.urn AS urn, null AS alias_namespace LIMIT $limit
  UNION ALL
  MATCH (n:Answer) WHERE n.answerId ENDS WITH ending
  RETURN n.urn AS urn, null AS alias_namespace LIMIT $limit
}
RETURN DISTINCT urn, alias_namespace ORDER BY urn LIMIT $limit
