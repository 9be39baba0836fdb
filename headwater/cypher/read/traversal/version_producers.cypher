// One layer of a walk upstream over history: the runs that made these versions, and for each those of the versions it
// read that this one is known to come from (an empty list: from any of them; where it was told what it comes from,
// told is true and the list is all).
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: place, process, derived, told
// example: headwater cypher read/traversal/version_producers --param urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})<-[:PRODUCED]-(r:PipelineRun)
RETURN urn AS place, r.urn AS process, CASE WHEN a.explicit THEN [(a)-[:DERIVED_FROM]->(v) | v.urn]
    ELSE [(a)-[:DERIVED_FROM]->(v) WHERE EXISTS { (v)-[:FEEDS]->(r) } | v.urn] END AS derived,
  coalesce(a.explicit, false) AS told
LIMIT $limit
