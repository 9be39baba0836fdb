// Make one hop downstream in the lineage graph as of an instant. Return the jobs that read the
// given datasets then, by the newest successful run of each job at that instant.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun, firstSeen, lastSeen
// example: headwater cypher read/traversal/dataset_consumers_at --param
//   urns=dataset:file:/raw/planes --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})-[e:FEEDS]->(j:Job)
WITH *, COLLECT {
    UNWIND ['both', 'reads'] AS sides
    CALL (j, sides) {
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
        AND r.finishedAt <= $at
      RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.reportedSides DESC,
        r.finishedAt DESC LIMIT 1
    }
    RETURN r ORDER BY r.finishedAt DESC LIMIT 1
  }[0] AS newest
WHERE e.firstSeen <= $at AND (e.declared OR newest IS NULL
  OR EXISTS { (:Source|Artifact {dataset: d.urn})-[:FEEDS]->(newest) })
RETURN DISTINCT urn AS datasetOrVersion, j.urn AS jobOrRun, e.firstSeen.epochMillis AS firstSeen,
  e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
