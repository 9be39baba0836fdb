// Find the datasets with data contracts.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX dataset_contracts IF NOT EXISTS FOR (n:Dataset) ON (n.contracts);
