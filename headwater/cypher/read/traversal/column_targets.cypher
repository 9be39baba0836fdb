// Make one hop downstream over columns. Return the columns that the given columns feed. A column
// that feeds a whole dataset feeds each column of it.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target, firstSeen
// example: headwater cypher read/traversal/column_targets --param
//   urns=column:file:/raw/planes:tailnum
UNWIND $urns AS urn
MATCH (c:Column {urn: urn})
CALL (c) {
  MATCH (c)-[e:FEEDS]->(t:Column) RETURN t, e.firstSeen.epochMillis AS firstSeen
  UNION
  MATCH (c)-[e:FEEDS]->(:Dataset)-[:HAS_COLUMN]->(t:Column)
    RETURN t, e.firstSeen.epochMillis AS firstSeen
}
RETURN urn AS source, t.urn AS target, min(firstSeen) AS firstSeen
LIMIT $limit
