// Return the jobs that contain the given jobs, nearest first, up to eight levels up. Each row has
// the type of the container and its level; an outermost container has no container of its own.
// access: read
// params: $urns LIST<STRING>
// returns: urn, container, type, up, outermost
// example: headwater cypher read/nodes/job_containers --param urns=job:airflow:load
UNWIND $urns AS urn
MATCH path = (:Job {urn: urn})-[:PART_OF]->{0,8}(a:Job)
WITH urn, a, min(length(path)) AS up
RETURN urn, a.urn AS container, a.type AS type, up,
  NOT EXISTS { (a)-[:PART_OF]->(:Job) } AS outermost
ORDER BY urn, up, container
