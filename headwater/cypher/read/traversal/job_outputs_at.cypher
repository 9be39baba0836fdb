// Make one hop downstream in the lineage graph as of an instant. Return the datasets that were
// known then as outputs of the given jobs, with the inputs from which each may derive: as [urn,
// whether the job has it as input, whether it had it then, whether it declared it]. An output is
// current if it is declared. If `declared` is null, read/traversal/datasets_in_use shows whether it
// is. If it is false, the dataset no longer names the job, and a run must have written it.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, declared, derived, explicit, firstSeen,
//   lastSeen
// example: headwater cypher read/traversal/job_outputs_at --param urns=job:spark:flights.clean
//   --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[p:PRODUCED]->(o:Dataset)
WHERE p.firstSeen <= $at
RETURN urn AS jobOrRun, o.urn AS datasetOrVersion,
  CASE WHEN p.declared OR p.assertedByDataset THEN true ELSE p.assertedByDataset END AS declared,
  [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
    WHERE NOT coalesce(p.explicit, false) OR 'lineage' IN r.evidence OR r.declared
    | [i.urn, EXISTS { (i)-[:FEEDS]->(j) },
      EXISTS { (i)-[f:FEEDS]->(j) WHERE f.firstSeen <= $at },
      EXISTS { (i)-[f:FEEDS]->(j) WHERE f.firstSeen <= $at AND f.declared }]] AS derived,
  coalesce(p.explicit, false) AS explicit, p.firstSeen.epochMillis AS firstSeen,
    p.lastSeen.epochMillis AS lastSeen
LIMIT $limit
