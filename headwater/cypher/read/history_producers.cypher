// One layer of a walk upstream over history: the runs that made these versions, and for each those of the versions
// it read that this one is known to come from (an empty list: from any of them).
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: place, process, derived
// example: headwater cypher read/history_producers --param urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})<-[:PRODUCED]-(r:PipelineRun)
RETURN urn AS place, r.urn AS process, [(a)-[:DERIVED_FROM]->(v) WHERE EXISTS { (v)-[:FEEDS]->(r) } | v.urn] AS derived
LIMIT $limit
