// What the last analysis of the lake found, of one table or of all. A scan of what it found.
// access: read
// params: $table STRING = "", $limit INTEGER = 1000
// returns: table, subject, values, until, analysed
// example: headwater cypher read/analyses --param table=summary
MATCH (a:Analysis)
WHERE $table = '' OR a.table = $table
RETURN a.table AS table, a.subject AS subject, a.values AS values, a.until AS until, a.analysed AS analysed
ORDER BY a.analysed DESC, table, subject
LIMIT $limit
