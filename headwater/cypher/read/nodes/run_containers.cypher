// Return the runs that contain the given runs, nearest first, up to eight levels up. Each row has
// the type of the container and its level; an outermost container has no container of its own.
// access: read
// params: $urns LIST<STRING>
// returns: urn, container, type, up, outermost
// example: headwater cypher read/nodes/run_containers --param urns=run:RUN
UNWIND $urns AS urn
MATCH path = (:PipelineRun {urn: urn})-[:PART_OF]->{0,8}(a:PipelineRun)
WITH urn, a, min(length(path)) AS up
RETURN urn, a.urn AS container, COLLECT { MATCH (a)-[:RUN_OF]->(j:Job) RETURN j.type
  ORDER BY j.urn }[0] AS type, up,
  NOT EXISTS { (a)-[:PART_OF]->(:PipelineRun) } AS outermost
ORDER BY urn, up, container
