// Return what detectors compare the runs of the given jobs with: their properties, the datasets
// that they read, the datasets that they write with the users of each, and the jobs that contain
// them. A container is reporting if it has runs of its own. `isContainer`: it contains other jobs,
// or passes data to or from one without a dataset.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 100, $users INTEGER = 20
// returns: urn, namespace, name, owners, tags, type, processing, firstSeen, deprecatedAt,
//   deletedAt, isContainer, inputs, outputs, containers
// example: headwater cypher read/findings/job_states --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, j.namespace AS namespace, j.name AS name, j.owners AS owners, j.tags AS tags,
  j.type AS type, j.processing AS processing, j.firstSeen AS firstSeen,
  j.deprecatedAt AS deprecatedAt, j.deletedAt AS deletedAt,
  EXISTS { (:Job)-[:PART_OF]->(j) } OR EXISTS { (j)-[:FEEDS]-(:Job) } AS isContainer, COLLECT {
    MATCH (d:Dataset)-[e:FEEDS]->(j) WHERE e.current
    RETURN DISTINCT d.urn ORDER BY d.urn LIMIT $limit
  } AS inputs, COLLECT {
    MATCH (j)-[e:PRODUCED]->(d:Dataset)
    WITH d, any(one IN collect(e.current) WHERE one) AS isCurrent
    ORDER BY isCurrent DESC, d.urn LIMIT $limit
    RETURN {
      urn: d.urn, isCurrent: isCurrent, tags: coalesce(d.tags, []), type: d.type,
      readers: COLLECT {
        MATCH (d)-[f:FEEDS]->(n:Job|Dataset)
        WHERE f.current AND n.urn <> urn AND n.deletedAt IS NULL
        RETURN DISTINCT n.urn ORDER BY n.urn LIMIT $users
      },
      answers: COLLECT {
        CALL (d) {
          MATCH ()-[c:CITED_BY]->(a:Answer)
          USING INDEX SEEK c:CITED_BY(dataset)
          WHERE c.dataset = d.urn
          RETURN DISTINCT a.urn AS answer LIMIT $users
          UNION
          MATCH (d)-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(a:Answer)
          RETURN DISTINCT a.urn AS answer LIMIT $users
        }
        RETURN answer ORDER BY answer LIMIT $users
      }
    } ORDER BY isCurrent DESC, d.urn
  } AS outputs, COLLECT {
    MATCH path = (j)-[:PART_OF]->{1,8}(p:Job)
    WITH p, min(length(path)) AS up
    RETURN {
      urn: p.urn,
      hasLineage: EXISTS { MATCH (p)-[e:FEEDS|PRODUCED]-(:Dataset) WHERE e.current },
      isReporting: EXISTS {
        MATCH (r:PipelineRun)
        USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
        WHERE r.namespace = p.namespace AND r.pipelineName = p.name AND r.startedAt IS NOT NULL
      }
    } ORDER BY up, p.urn LIMIT $users
  } AS containers
