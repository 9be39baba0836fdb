// Make one hop upstream in the lineage graph as of an instant. Return the datasets that the given
// jobs read then.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, firstSeen, lastSeen
// example: headwater cypher read/traversal/job_inputs_at --param urns=job:spark:flights.clean
//   --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})<-[e:FEEDS]-(d:Dataset)
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
RETURN DISTINCT urn AS jobOrRun, d.urn AS datasetOrVersion, e.firstSeen.epochMillis AS firstSeen,
  e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
