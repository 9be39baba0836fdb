// An index for aliases of datasets by name: people ask by any name of a dataset.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX symlink_name IF NOT EXISTS FOR (n:Symlink) ON (n.name);
