// Which versions of a dataset were being made at an instant: asked for readers that began before there was any.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX artifact_begun IF NOT EXISTS FOR (n:Artifact) ON (n.dataset, n.startedAt);
