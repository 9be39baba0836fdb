// Make one hop downstream in the lineage graph as of an instant. Return the jobs that were known
// then to read the given datasets. Those that declare it read the dataset then; of the others,
// read/traversal/datasets_in_use shows which did.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun, declared, firstSeen, lastSeen
// example: headwater cypher read/traversal/dataset_consumers_at --param
//   urns=dataset:file:/raw/planes --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})-[e:FEEDS]->(j:Job)
WHERE e.firstSeen <= $at
RETURN DISTINCT urn AS datasetOrVersion, j.urn AS jobOrRun,
  CASE WHEN e.declared THEN true END AS declared,
  e.firstSeen.epochMillis AS firstSeen, e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
