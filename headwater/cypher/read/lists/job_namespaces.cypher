// Return the namespaces of all jobs. This is a scan over the jobs, in their index.
// access: read
// params: none
// returns: namespace
// example: headwater cypher read/lists/job_namespaces
MATCH (j:Job)
WHERE j.namespace IS NOT NULL AND j.name IS NOT NULL
RETURN DISTINCT j.namespace AS namespace
