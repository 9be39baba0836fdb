// Return every model and the jobs that write it. This is a scan over the models.
// access: read
// params: none
// returns: model, jobs
// example: headwater cypher read/write_path/models
MATCH (m:Model)
RETURN m.urn AS model, [(m)<-[:PRODUCED]-(j:Job) | j.urn] AS jobs
