// Return the namespaces that decide who may see the given nodes. A dataset or a job has its own. A
// run has those of all jobs that it was ever reported for. An answer has those of everything it
// rests on, other answers included. A schema has those of its datasets and versions. A null in the
// list stands for a node without a namespace.
// access: read
// params: $urns LIST<STRING>
// returns: urn, namespaces
// example: headwater cypher read/nodes/namespaces --param urns=answer:worst-carrier-2013
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:PipelineRun {urn: urn})
  RETURN [coalesce(n.namespace, '')]
    + COLLECT { MATCH (n)-[:RUN_OF]->(j:Job) RETURN DISTINCT j.namespace } AS namespaces
  UNION ALL
  MATCH (n:Dataset {urn: urn}) RETURN collect(n.namespace) AS namespaces
  UNION ALL
  MATCH (n:Job {urn: urn}) RETURN collect(n.namespace) AS namespaces
  UNION ALL
  MATCH (n:Source {urn: urn}) RETURN collect(n.namespace) AS namespaces
  UNION ALL
  MATCH (n:Artifact {urn: urn}) RETURN collect(n.namespace) AS namespaces
  UNION ALL
  MATCH (n:Column {urn: urn}) RETURN collect(n.namespace) AS namespaces
  UNION ALL
  MATCH (n:Answer {urn: urn})<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
  RETURN collect(DISTINCT v.namespace) AS namespaces
  UNION ALL
  MATCH (n:SchemaVersion {urn: urn})<-[:HAS_SCHEMA]-(d:Dataset|Artifact)
  RETURN collect(DISTINCT d.namespace) AS namespaces
}
WITH urn, namespaces
WHERE size(namespaces) > 0
RETURN urn, namespaces
