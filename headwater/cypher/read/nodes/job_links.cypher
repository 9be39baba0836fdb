// Return the current inputs and outputs of the given jobs, their parent and child jobs, and the
// jobs that trigger them.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, inputs, outputs, parents, children, after
// example: headwater cypher read/nodes/job_links --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn,
  COLLECT { MATCH (d:Dataset)-[e:FEEDS]->(j) WHERE e.current RETURN DISTINCT d.urn
    ORDER BY d.urn LIMIT $limit } AS inputs,
  COLLECT { MATCH (j)-[e:PRODUCED]->(d:Dataset) WHERE e.current RETURN DISTINCT d.urn
    ORDER BY d.urn LIMIT $limit } AS outputs,
  COLLECT { MATCH (j)-[:PART_OF]->(p:Job) RETURN p.urn ORDER BY p.urn LIMIT $limit } AS parents,
  COLLECT { MATCH (c:Job)-[:PART_OF]->(j) RETURN c.urn ORDER BY c.urn LIMIT $limit } AS children,
  COLLECT { MATCH (b:Job)-[:TRIGGERS]->(j) RETURN b.urn ORDER BY b.urn LIMIT $limit } AS after
