// One layer of a walk upstream over the map: the jobs that produce these datasets, and for each those of its inputs
// that the dataset is known to come from (an empty list: from any of them).
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: place, process, derived
// example: headwater cypher read/map_producers --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (o:Dataset {urn: urn})<-[:PRODUCED]-(j:Job)
RETURN urn AS place, j.urn AS process,
  [(o)-[r:DERIVED_FROM]->(i:Dataset) WHERE r.job = j.urn AND EXISTS { (i)-[:FEEDS]->(j) } | i.urn] AS derived
LIMIT $limit
