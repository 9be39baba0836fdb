// When the last run began that read any version of some datasets.
// access: read
// params: $urns LIST<STRING>, $sees LIST<STRING> = null
// returns: urn, lastRead
// example: headwater cypher read/last_reads --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact|Source)-[:FEEDS]->(r:PipelineRun)
WHERE $sees IS NULL OR any(p IN $sees WHERE r.namespace =~ p)
  AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) }
RETURN urn, max(r.startedAt) AS lastRead
