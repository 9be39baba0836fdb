// Make one hop upstream over columns. Return the columns that feed the given columns, and the
// columns that feed the whole dataset of a given column.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target, firstSeen
// example: headwater cypher read/traversal/column_sources --param
//   urns=column:file:/raw/planes:tailnum
UNWIND $urns AS urn
MATCH (c:Column {urn: urn})
CALL (c) {
  MATCH (c)<-[e:FEEDS]-(s:Column) RETURN s, e.firstSeen.epochMillis AS firstSeen
  UNION
  MATCH (c)<-[:HAS_COLUMN]-(:Dataset)<-[e:FEEDS]-(s:Column)
    RETURN s, e.firstSeen.epochMillis AS firstSeen
}
RETURN s.urn AS source, urn AS target, min(firstSeen) AS firstSeen
LIMIT $limit
