// Less of what there is by the million. Versions that were being made at an instant are found by when they were ready,
// but for the few that took long. A graph from before this is read as it is; `headwater rebuild` makes it smaller, and
// marks the versions that took long.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
DROP INDEX artifact_begun IF EXISTS;
CREATE INDEX artifact_begun_long IF NOT EXISTS FOR (n:Artifact) ON (n.dataset, n.begunAt);
