// Return the datasets of the versions that the given answers cite, other answers' citations among
// them.
// access: read
// params: $urns LIST<STRING>
// returns: urn, datasets
// example: headwater cypher read/findings/cited_datasets --param urns=answer:worst-carrier-2013
UNWIND $urns AS urn
MATCH (a:Answer {urn: urn})
RETURN urn, COLLECT {
  MATCH (a)<-[:CITED_BY*1..20]-(v:Artifact|Source) RETURN DISTINCT v.dataset
} AS datasets
