// Make one hop downstream in the lineage graph as of an instant. Return the datasets that the given
// jobs produced then, with the inputs from which each derives.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, derived, explicit, firstSeen, lastSeen
// example: headwater cypher read/traversal/job_outputs_at --param urns=job:spark:flights.clean
//   --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[p:PRODUCED]->(o:Dataset)
WITH *, COLLECT {
    UNWIND ['both', 'writes'] AS sides
    CALL (j, sides) {
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
        AND r.finishedAt <= $at
      RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.reportedSides DESC,
        r.finishedAt DESC LIMIT 1
    }
    RETURN r ORDER BY r.finishedAt DESC LIMIT 1
  }[0] AS newest, COLLECT {
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
  }[0] AS reader
WHERE p.firstSeen <= $at AND (p.declared OR p.assertedByDataset
  OR (newest IS NULL AND p.assertedByDataset IS NULL)
  OR EXISTS { (newest)-[:PRODUCED]->(:Artifact {dataset: o.urn}) })
RETURN urn AS jobOrRun, o.urn AS datasetOrVersion, CASE WHEN p.explicit
    THEN [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE ('lineage' IN r.evidence OR r.declared)
      AND (NOT EXISTS { (i)-[:FEEDS]->(j) } OR EXISTS { (i)-[f:FEEDS]->(j) WHERE f.firstSeen <= $at
        AND (f.declared OR reader IS NULL
          OR EXISTS { (:Source|Artifact {dataset: i.urn})-[:FEEDS]->(reader) }) }) | i.urn]
    ELSE [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE EXISTS { (i)-[f:FEEDS]->(j) WHERE f.firstSeen <= $at
        AND (f.declared OR reader IS NULL
          OR EXISTS { (:Source|Artifact {dataset: i.urn})-[:FEEDS]->(reader) }) } | i.urn]
    END AS derived,
  coalesce(p.explicit, false) AS explicit, p.firstSeen.epochMillis AS firstSeen,
    p.lastSeen.epochMillis AS lastSeen
LIMIT $limit
