// One layer of a walk downstream over the map: what these jobs produce, and for each output those of the job's inputs
// that it is known to come from when this job makes it (an empty list: from any of them).
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: process, place, derived
// example: headwater cypher read/map_outputs --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[:PRODUCED]->(o:Dataset)
RETURN urn AS process, o.urn AS place,
  [(o)-[r:DERIVED_FROM]->(i:Dataset) WHERE r.job = urn AND EXISTS { (i)-[:FEEDS]->(j) } | i.urn] AS derived
LIMIT $limit
