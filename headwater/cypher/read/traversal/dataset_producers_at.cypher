// Make one hop upstream in the lineage graph as of an instant. Return the jobs that were known then
// to write the given datasets, with the inputs from which each dataset may derive. The values mean
// what those of read/traversal/job_outputs_at mean.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun, declared, derived, explicit, firstSeen,
//   lastSeen
// example: headwater cypher read/traversal/dataset_producers_at --param
//   urns=dataset:file:/raw/planes --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (o:Dataset {urn: urn})<-[p:PRODUCED]-(j:Job)
WHERE p.firstSeen <= $at
RETURN urn AS datasetOrVersion, j.urn AS jobOrRun,
  CASE WHEN p.declared OR p.assertedByDataset THEN true ELSE p.assertedByDataset END AS declared,
  [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
    WHERE NOT coalesce(p.explicit, false) OR 'lineage' IN r.evidence OR r.declared
    | [i.urn, EXISTS { (i)-[:FEEDS]->(j) },
      EXISTS { (i)-[f:FEEDS]->(j) WHERE f.firstSeen <= $at },
      EXISTS { (i)-[f:FEEDS]->(j) WHERE f.firstSeen <= $at AND f.declared }]] AS derived,
  coalesce(p.explicit, false) AS explicit, p.firstSeen.epochMillis AS firstSeen,
    p.lastSeen.epochMillis AS lastSeen
LIMIT $limit
