// Return the datasets, jobs and answers whose name ends with one of these texts.
// access: read
// params: $endings LIST<STRING>, $limit INTEGER = 1000
// returns: urn
// example: run by `headwater lineage raw/planes`
UNWIND $endings AS ending
CALL (ending) {
  MATCH (n:Dataset) WHERE n.name ENDS WITH ending RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (n:Job) WHERE n.name ENDS WITH ending RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (n:Answer) WHERE n.answerId ENDS WITH ending RETURN n.urn AS urn LIMIT $limit
}
RETURN DISTINCT urn ORDER BY urn LIMIT $limit
