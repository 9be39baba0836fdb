// Return the properties that a traversal filter reads. These are the namespace, tags and owners of
// a dataset, also for its versions, captured sources and columns. For a job or its runs, the type
// of the job is added. `first` and `last` bound the time of a run history node, in milliseconds
// since 1970. They are null for nodes of the lineage graph, whose edges are filtered instead.
// access: read
// params: $urns LIST<STRING>
// returns: urn, namespace, tags, owners, type, field, first, last
// example: headwater cypher read/nodes/filter_properties --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (d:Dataset {urn: urn})
  RETURN d.namespace AS namespace, d AS about, null AS field, null AS first, null AS last
  UNION ALL
  MATCH (j:Job {urn: urn})
  RETURN j.namespace AS namespace, j AS about, null AS field, null AS first, null AS last
  UNION ALL
  MATCH (r:PipelineRun {urn: urn})
  RETURN r.namespace AS namespace,
    COLLECT { MATCH (r)-[:RUN_OF]->(j:Job) RETURN j ORDER BY j.urn LIMIT 1 }[0] AS about,
    null AS field, r.startedAt.epochMillis AS first, r.finishedAt.epochMillis AS last
  UNION ALL
  MATCH (v:Artifact {urn: urn})
  RETURN v.namespace AS namespace,
    COLLECT { MATCH (v)-[:VERSION_OF]->(d:Dataset) RETURN d LIMIT 1 }[0] AS about,
    null AS field, v.createdAt.epochMillis AS first, v.createdAt.epochMillis AS last
  UNION ALL
  MATCH (v:Source {urn: urn})
  RETURN v.namespace AS namespace,
    COLLECT { MATCH (v)-[:VERSION_OF]->(d:Dataset) RETURN d LIMIT 1 }[0] AS about,
    null AS field, v.capturedAt.epochMillis AS first, v.capturedAt.epochMillis AS last
  UNION ALL
  MATCH (c:Column {urn: urn})
  RETURN c.namespace AS namespace,
    COLLECT { MATCH (c)<-[:HAS_COLUMN]-(d:Dataset) RETURN d LIMIT 1 }[0] AS about,
    c.name AS field, null AS first, null AS last
  UNION ALL
  MATCH (a:Answer {urn: urn})
  RETURN null AS namespace, null AS about, null AS field, a.generatedAt.epochMillis AS first,
    a.generatedAt.epochMillis AS last
}
RETURN urn, namespace, coalesce(about.tags, []) AS tags, coalesce(about.owners, []) AS owners,
  about.type AS type,
  field, first, last
