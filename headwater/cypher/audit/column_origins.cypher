// Return the origin of a column: every column upstream of it, nearest first, with the job and the
// transformation of the last step (DIRECT:IDENTITY, INDIRECT:FILTER, ...). Paths have at most 20
// steps.
// access: read
// params: $namespace STRING, $dataset STRING, $column STRING, $limit INTEGER = 100
// returns: steps, namespace, dataset, column, job, transformations
// example: headwater cypher column_origins --param namespace=file
//   --param dataset=/demo/flights/marts/carrier_delays --param column=median_arr_delay --param
//   limit=5
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (d:Dataset {name: $dataset})-[:HAS_COLUMN]->(c:Column)
WHERE d.namespace = $namespace AND c.name = $column
MATCH path = ANY SHORTEST (c)(()<-[feeds:FEEDS]-(:Column)){1,20}(origin)
RETURN size(feeds) AS steps, origin.namespace AS namespace, origin.dataset AS dataset,
  origin.name AS column,
  feeds[-1].job AS job, feeds[-1].transformations AS transformations
ORDER BY steps, namespace, dataset, column
LIMIT $limit
