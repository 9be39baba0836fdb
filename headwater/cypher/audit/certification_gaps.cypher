// Return the outputs that rest on data nobody certified: certified outputs with an uncertified
// input, and outputs without any certified input. A dataset is certified by a tag certified or
// canonical, unless its value is false, no, none or 0. Inputs are those of the current jobs; an
// output with known derivations has only the inputs that it derives from. No inputs means that none
// is known. With $certifiedOnly, only certified outputs are listed. This is a scan over all
// datasets.
// access: read
// params: $certifiedOnly BOOLEAN = false, $namespace STRING = "", $limit INTEGER = 1000
// returns: finding, namespace, output, owners, certifiedInputs, uncertifiedInputs, jobs
// example: headwater cypher certification_gaps --param limit=10
MATCH (o:Dataset)
WHERE o.droppedAt IS NULL AND o.deletedAt IS NULL AND ($namespace = '' OR o.namespace = $namespace)
  AND (EXISTS { (:Job)-[:PRODUCED {current: true}]->(o) }
    OR EXISTS { (:Dataset)-[:FEEDS {current: true}]->(o) })
CALL (o) {
  MATCH (j:Job)-[p:PRODUCED {current: true}]->(o)
  OPTIONAL MATCH (i:Dataset)-[:FEEDS {current: true}]->(j)
  WHERE i <> o
    AND ((p.explicit AND EXISTS {
        (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (p.fromAllInputs OR NOT EXISTS { (o)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
  RETURN i, j.urn AS job
  UNION
  MATCH (i:Dataset)-[:FEEDS {current: true}]->(o)
  RETURN i, null AS job
}
WITH o, i, collect(job) AS jobs
WITH o, jobs, i.namespace + ' ' + i.name AS input,
  any(t IN i.tags WHERE toLower(split(t, '=')[0]) IN ['certified', 'canonical']
    AND NOT toLower(coalesce(split(t, '=')[1], '')) IN ['false', 'no', 'none', '0']) AS isCertified
ORDER BY input
WITH o, collect(CASE WHEN isCertified THEN input END) AS certifiedInputs,
  collect(CASE WHEN coalesce(isCertified, false) THEN null ELSE input END) AS uncertifiedInputs,
  collect(jobs) AS jobLists,
  any(t IN o.tags WHERE toLower(split(t, '=')[0]) IN ['certified', 'canonical']
    AND NOT toLower(coalesce(split(t, '=')[1], '')) IN ['false', 'no', 'none', '0']) AS isCertified
WITH *, coalesce(isCertified, false) AS certified
WHERE CASE WHEN certified THEN uncertifiedInputs <> [] OR certifiedInputs = []
  ELSE certifiedInputs = [] AND NOT $certifiedOnly END
RETURN CASE WHEN certified AND uncertifiedInputs <> [] THEN 'certified output, uncertified input'
    WHEN certified THEN 'certified output, no known input'
    ELSE 'no certified input' END AS finding,
  o.namespace AS namespace, o.name AS output, coalesce(o.owners, []) AS owners, certifiedInputs,
  uncertifiedInputs, COLLECT {
    UNWIND jobLists AS jobs
    UNWIND jobs AS job
    RETURN DISTINCT job ORDER BY job
  } AS jobs
ORDER BY finding, namespace, output
LIMIT $limit
