// Make one hop downstream in the lineage graph. Return the jobs that currently read the given
// datasets.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun, firstSeen, lastSeen
// example: headwater cypher read/traversal/dataset_consumers --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})-[e:FEEDS]->(j:Job)
WHERE e.current
RETURN DISTINCT urn AS datasetOrVersion, j.urn AS jobOrRun, e.firstSeen.epochMillis AS firstSeen,
  e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
