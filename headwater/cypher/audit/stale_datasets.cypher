// Return datasets that are behind, oldest first. An input has a newer complete version than the one
// from which the newest complete version was written; or no complete version was written since a
// time, or ever. This is a scan over all datasets that a job produces, to evaluate each.
// access: read
// params: $before DATETIME = "1970-01-01T00:00:00Z", $limit INTEGER = 100
// returns: madeAt, namespace, name, why, newerInputs
// example: headwater cypher stale_datasets --param before=2027-01-01 --param limit=5
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND EXISTS { (:Job)-[:PRODUCED {current: true}]->(d) }
OPTIONAL CALL (d) {
  MATCH (v:Artifact)
  USING INDEX SEEK v:Artifact(dataset, complete, createdAt)
  WHERE v.dataset = d.urn AND v.complete = true AND v.createdAt IS NOT NULL
  RETURN v ORDER BY v.dataset DESC, v.complete DESC, v.createdAt DESC, v.urn LIMIT 1
}
WITH d, v, COLLECT {
  MATCH (v)<-[:PRODUCED]-(r:PipelineRun)<-[:FEEDS]-(read:Source|Artifact)
  WHERE read.dataset <> d.urn
    AND CASE WHEN v.explicit THEN EXISTS { (v)-[:DERIVED_FROM]->(read) }
      ELSE NOT EXISTS { (v)-[:DERIVED_FROM]->()-[:FEEDS]->(r) }
        OR EXISTS { (v)-[:DERIVED_FROM]->(read) } END
    AND EXISTS {
      MATCH (newer:Artifact {dataset: read.dataset, complete: true})
      WHERE newer.createdAt > coalesce(read.createdAt, r.startedAt)
    }
  RETURN DISTINCT read.namespace + ' ' + read.name AS behind ORDER BY behind
} AS newerInputs
WITH d, v, newerInputs, CASE
  WHEN v IS NULL THEN 'no whole version was ever made'
  WHEN newerInputs <> [] THEN 'an input has a newer version'
  WHEN v.createdAt < $before THEN 'not made since'
END AS why
WHERE why IS NOT NULL
RETURN v.createdAt AS madeAt, d.namespace AS namespace, d.name AS name, why, newerInputs
ORDER BY madeAt, namespace, name
LIMIT $limit
