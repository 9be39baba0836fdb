// Make one hop downstream in the lineage graph, past edges included. Return the jobs that read the
// given datasets now or read them once.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun
// example: headwater cypher read/traversal/dataset_consumers_ever --param
//   urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})-[:FEEDS]->(j:Job)
RETURN DISTINCT urn AS datasetOrVersion, j.urn AS jobOrRun
LIMIT $limit
