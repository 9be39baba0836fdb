// Remember by which rules and at which moment the detail of old runs is rolled up.
// access: write
// params: $horizons STRING
// returns: nothing
// example: run by `headwater pipeline rollup`
MERGE (r:Retention {name: 'graph'})
SET r.horizons = $horizons
