// One layer of a walk upstream over columns: the columns that feed these.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/column_sources --param urns=column:file:/raw/planes:tailnum
UNWIND $urns AS urn
MATCH (c:Column {urn: urn})<-[:FEEDS]-(s:Column)
RETURN DISTINCT s.urn AS source, urn AS target
LIMIT $limit
