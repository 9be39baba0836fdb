// Lock the state of the detector until the transaction ends, so that passes follow one another, and
// count the passes that change findings. The write lock of the graph is not taken: the worker never
// waits for a pass. Return the number of passes before.
// access: write
// params: $changes INTEGER = 0
// returns: passes
// example: run by `headwater detect`
MERGE (d:Detector {name: 'graph'})
SET d.name = 'graph'
WITH d, coalesce(d.passes, 0) AS passes
SET d.passes = passes + CASE WHEN $changes > 0 THEN 1 ELSE 0 END
RETURN passes
