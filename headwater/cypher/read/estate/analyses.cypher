// Return the results of the last lake analysis, for one table or for all. A result about a dataset
// or a job is returned if that node is visible. A result about the whole graph is returned to
// unrestricted callers only. This is a scan of the results.
// access: read
// params: $table STRING = "", $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: table, subject, values, newestEventAt, analysedAt
// example: headwater cypher read/estate/analyses --param table=summary
MATCH (a:Analysis)
WHERE ($table = '' OR a.table = $table) AND ($visible IS NULL OR EXISTS {
  MATCH (a)-[:ABOUT]->(n:Dataset|Job) WHERE any(p IN $visible WHERE n.namespace =~ p)
})
RETURN a.table AS table, a.subject AS subject, a.values AS values, a.newestEventAt AS newestEventAt,
  a.analysedAt AS analysedAt
ORDER BY a.analysedAt DESC, table, subject
LIMIT $limit
