// Return the jobs that write the given datasets now, those that did, and those that read them now
// or did. `separate`: the job writes some datasets in some executions and others in others.
// `columns` are the columns of the dataset for which column lineage names the reader. $visible: the
// namespaces of the readers, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn, producers, formerProducers, readers
// example: headwater cypher read/findings/dataset_jobs --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WITH urn, d, COLLECT {
  MATCH (d)-[:HAS_COLUMN]->(c:Column)-[e:FEEDS]->(:Column|Dataset)
  WHERE e.job <> ''
  RETURN DISTINCT [e.job, c.name]
} AS uses
RETURN urn, COLLECT {
  MATCH (j:Job)-[e:PRODUCED]->(d)
  WHERE e.current AND j.deletedAt IS NULL
  WITH j, min(e.firstSeen) AS firstSeen
  RETURN {job: j.urn, namespace: j.namespace, name: j.name, firstSeen: firstSeen,
    processing: j.processing, retired: j.deprecatedAt IS NOT NULL,
    separate: EXISTS { (j)-[:PRODUCED {returning: true}]->() }} ORDER BY j.urn LIMIT $limit
} AS producers, COLLECT {
  MATCH (j:Job)-[e:PRODUCED]->(d)
  WHERE j.deletedAt IS NULL
  WITH j, min(e.firstSeen) AS firstSeen, any(one IN collect(e.current) WHERE one) AS isCurrent
  WHERE NOT isCurrent
  RETURN {job: j.urn, firstSeen: firstSeen, processing: j.processing,
    retired: j.deprecatedAt IS NOT NULL} ORDER BY j.urn LIMIT $limit
} AS formerProducers, COLLECT {
  MATCH (d)-[e:FEEDS]->(j:Job)
  WHERE j.deletedAt IS NULL
    AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  WITH j, any(current IN collect(coalesce(e.current, false)) WHERE current) AS current,
    min(e.firstSeen) AS firstSeen, max(e.lastSeen) AS lastSeen
  RETURN {job: j.urn, namespace: j.namespace, name: j.name, owners: j.owners, current: current,
    firstSeen: firstSeen, lastSeen: lastSeen,
    columns: [use IN uses WHERE use[0] = j.urn | use[1]]}
  ORDER BY current DESC, j.urn LIMIT $limit
} AS readers
