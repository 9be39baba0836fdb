// Return the current inputs and outputs of the given jobs, their parent and child jobs, and the
// jobs that trigger them. $visible: the namespaces of these nodes, as regular expressions; null:
// any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn, inputs, outputs, parents, children, after
// example: headwater cypher read/nodes/job_links --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn,
  COLLECT {
    MATCH (d:Dataset)-[e:FEEDS]->(j)
    WHERE e.current AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
    RETURN DISTINCT d.urn ORDER BY d.urn LIMIT $limit
  } AS inputs,
  COLLECT {
    MATCH (j)-[e:PRODUCED]->(d:Dataset)
    WHERE e.current AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
    RETURN DISTINCT d.urn ORDER BY d.urn LIMIT $limit
  } AS outputs,
  COLLECT {
    MATCH (j)-[:PART_OF]->(above:Job)
    WHERE $visible IS NULL OR any(p IN $visible WHERE above.namespace =~ p)
    RETURN above.urn ORDER BY above.urn LIMIT $limit
  } AS parents,
  COLLECT {
    MATCH (part:Job)-[:PART_OF]->(j)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p)
    RETURN part.urn ORDER BY part.urn LIMIT $limit
  } AS children,
  COLLECT {
    MATCH (before:Job)-[:TRIGGERS]->(j)
    WHERE $visible IS NULL OR any(p IN $visible WHERE before.namespace =~ p)
    RETURN before.urn ORDER BY before.urn LIMIT $limit
  } AS after
