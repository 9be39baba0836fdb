// What the last analysis of the lake found, of one table or of all, as far as the datasets and jobs
// that it is about may be seen; what is about the whole is for who sees everything. A scan of what it found.
// access: read
// params: $table STRING = "", $sees LIST<STRING> = null, $limit INTEGER = 1000
// returns: table, subject, values, until, analysed
// example: headwater cypher read/estate/analyses --param table=summary
MATCH (a:Analysis)
WHERE ($table = '' OR a.table = $table) AND ($sees IS NULL OR EXISTS {
  MATCH (a)-[:ABOUT]->(n:Dataset|Job) WHERE any(p IN $sees WHERE n.namespace =~ p)
})
RETURN a.table AS table, a.subject AS subject, a.values AS values, a.until AS until, a.analysed AS analysed
ORDER BY a.analysed DESC, table, subject
LIMIT $limit
