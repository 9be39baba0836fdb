// Make one hop downstream in the lineage graph, past edges included. Return the datasets that the
// given jobs produce now or produced once. `derived` are the inputs of the job from which the
// output is known to derive; an empty list means any input. Where `explicit` is true, the events
// named
// the inputs and the list is complete.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, derived, explicit
// example: headwater cypher read/traversal/job_outputs_ever --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[p:PRODUCED]->(o:Dataset)
RETURN urn AS jobOrRun, o.urn AS datasetOrVersion, CASE WHEN p.explicit
    THEN [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset) WHERE 'lineage' IN r.evidence
      OR r.declared | i.urn]
    ELSE [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE EXISTS { (i)-[:FEEDS]->(j) } | i.urn] END AS derived,
  coalesce(p.explicit, false) AS explicit
LIMIT $limit
