// Record by which rules, and when, runs are rolled up.
// access: write
// params: $horizons STRING
// returns: nothing
// example: run by `headwater pipeline rollup`
MERGE (r:Retention {name: 'graph'})
SET r.horizons = $horizons
