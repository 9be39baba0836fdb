// One layer of a walk downstream over history: the versions that these runs made, and for each those of the versions
// read that it is known to come from (an empty list: from any of them; where it was told what it comes from, told is
// true and the list is all).
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: process, place, derived, told
// example: headwater cypher read/traversal/run_outputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})-[:PRODUCED]->(a:Artifact)
RETURN urn AS process, a.urn AS place, CASE WHEN a.explicit THEN [(a)-[:DERIVED_FROM]->(v) | v.urn]
    ELSE [(a)-[:DERIVED_FROM]->(v) WHERE EXISTS { (v)-[:FEEDS]->(r) } | v.urn] END AS derived,
  coalesce(a.explicit, false) AS told
LIMIT $limit
