// Jobs that read nothing, make nothing, trigger nothing and contain nothing: they ran or were declared, and their
// lineage was never told. This is a scan over all jobs, because what is not connected cannot be reached from anything.
// access: read
// params: $limit INTEGER = 100
// returns: namespace, name, runs, lastSeen
// example: headwater cypher orphan_jobs --param limit=20
MATCH (j:Job)
WHERE NOT EXISTS { (j)-[:FEEDS|PRODUCED|TRIGGERS]-() } AND NOT EXISTS { (:Job)-[:PART_OF]->(j) }
RETURN j.namespace AS namespace, j.name AS name, COUNT { (:PipelineRun)-[:RUN_OF]->(j) } AS runs, j.lastSeen AS lastSeen
ORDER BY lastSeen, namespace, name
LIMIT $limit
