// Return the versions, columns and answers that the given answers cite.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/cited_nodes --param urns=answer:worst-carrier-2013
UNWIND $urns AS urn
MATCH (a:Answer {urn: urn})<-[:CITED_BY]-(v:Source|Artifact|Answer|Column)
RETURN v.urn AS source, urn AS target
LIMIT $limit
