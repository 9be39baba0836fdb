// Return the jobs that currently produce and read the given datasets. $visible: the namespaces of
// the jobs, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn, producers, readers
// example: headwater cypher read/nodes/dataset_links --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn,
  COLLECT { MATCH (j:Job)-[e:PRODUCED]->(d) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE j.namespace =~ p))
    RETURN DISTINCT j.urn
    ORDER BY j.urn LIMIT $limit } AS producers,
  COLLECT { MATCH (d)-[e:FEEDS]->(j:Job) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE j.namespace =~ p))
    RETURN DISTINCT j.urn
    ORDER BY j.urn LIMIT $limit } AS readers
