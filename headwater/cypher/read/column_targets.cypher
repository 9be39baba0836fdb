// One layer of a walk downstream over columns: the columns that these feed.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/column_targets --param urns=column:file:/raw/planes:tailnum
UNWIND $urns AS urn
MATCH (c:Column {urn: urn})-[:FEEDS]->(t:Column)
RETURN DISTINCT urn AS source, t.urn AS target
LIMIT $limit
