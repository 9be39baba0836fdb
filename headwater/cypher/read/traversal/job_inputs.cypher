// Make one hop upstream in the lineage graph. Return the datasets that the given jobs currently
// read.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, firstSeen, lastSeen
// example: headwater cypher read/traversal/job_inputs --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})<-[e:FEEDS]-(i:Dataset)
WHERE e.current
RETURN DISTINCT urn AS jobOrRun, i.urn AS datasetOrVersion, e.firstSeen.epochMillis AS firstSeen,
  e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
