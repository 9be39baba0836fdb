// Return when the last run began that read any version of the given datasets. The lineage graph
// names the jobs that may have read one, and when each last reported that it does. The runs of a
// job are read backwards from then, and its newest hundred runs as well, because a restarted run
// may have begun after that report.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null
// returns: urn, lastRead
// example: headwater cypher read/estate/last_reads --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})-[feeds:FEEDS]->(reader:Job)
WITH urn, reader, max(coalesce(feeds.lastSeen, datetime({year: 9999}))) AS fedAt
CALL (urn, reader, fedAt) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name AND r.startedAt <= fedAt
    AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = urn }
    AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r.startedAt AS at ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 1
  UNION
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name AND r.startedAt > fedAt
  WITH r, urn ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 100
  WHERE EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = urn }
    AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN max(r.startedAt) AS at
  UNION
  MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
  USING INDEX SEEK e:RUN_OF(indexedUnder)
  WHERE e.indexedUnder = reader.urn
    AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = urn }
    AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN max(r.startedAt) AS at
}
RETURN urn, max(at) AS lastRead
