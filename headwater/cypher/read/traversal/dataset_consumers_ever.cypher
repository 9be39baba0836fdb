// One layer of a walk downstream over the map: the jobs that read these datasets now or ever did.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: place, process
// example: headwater cypher read/traversal/dataset_consumers_ever --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})-[:FEEDS]->(j:Job)
RETURN DISTINCT urn AS place, j.urn AS process
LIMIT $limit
