// Make one hop downstream in the lineage graph. Return the datasets that the given jobs currently
// produce. `derived` are the inputs of the job from which the output is known to derive; an empty
// list means any input. Where `explicit` is true, the events named the inputs and the list is
// complete.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, derived, explicit, firstSeen, lastSeen
// example: headwater cypher read/traversal/job_outputs --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[p:PRODUCED]->(o:Dataset)
WHERE p.current
RETURN urn AS jobOrRun, o.urn AS datasetOrVersion, CASE WHEN p.explicit
    THEN [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE ('lineage' IN r.evidence OR r.declared)
      AND (EXISTS { (i)-[:FEEDS {current: true}]->(j) }
        OR NOT EXISTS { (i)-[:FEEDS]->(j) }) | i.urn]
    WHEN p.fromAllInputs THEN []
    ELSE [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE EXISTS { (i)-[:FEEDS {current: true}]->(j) } | i.urn]
    END AS derived,
  coalesce(p.explicit, false) AS explicit, p.firstSeen.epochMillis AS firstSeen,
    p.lastSeen.epochMillis AS lastSeen
LIMIT $limit
