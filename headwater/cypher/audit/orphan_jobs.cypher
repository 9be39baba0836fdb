// Return jobs that read nothing, produce nothing, trigger nothing and contain nothing: they ran or
// were declared, but no event reported their lineage. This is a scan over all jobs, because no edge
// leads to an unconnected node.
// access: read
// params: $limit INTEGER = 100
// returns: namespace, name, runs, lastSeen
// example: headwater cypher orphan_jobs --param limit=20
MATCH (j:Job)
WHERE NOT EXISTS { (j)-[:FEEDS|PRODUCED|TRIGGERS]-() } AND NOT EXISTS { (:Job)-[:PART_OF]->(j) }
RETURN j.namespace AS namespace, j.name AS name, COUNT { (:PipelineRun)-[:RUN_OF]->(j) } AS runs,
  j.lastSeen AS lastSeen
ORDER BY lastSeen, namespace, name
LIMIT $limit
