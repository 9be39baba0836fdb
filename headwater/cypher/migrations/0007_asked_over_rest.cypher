// Indexes for those who ask by a guid, and for lists of what is in a namespace, in the order of names.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX dataset_guid IF NOT EXISTS FOR (n:Dataset) ON (n.guid);
CREATE INDEX job_guid IF NOT EXISTS FOR (n:Job) ON (n.guid);
CREATE INDEX dataset_in_namespace IF NOT EXISTS FOR (n:Dataset) ON (n.namespace, n.name);
CREATE INDEX job_in_namespace IF NOT EXISTS FOR (n:Job) ON (n.namespace, n.name);
