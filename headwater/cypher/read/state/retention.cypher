// Return the rules and instants of all rollups of this graph, as JSON; no row without a rollup.
// access: read
// params: none
// returns: horizons, lateRuns
// example: headwater cypher read/state/retention
MATCH (r:Retention {name: 'graph'})
RETURN r.horizons AS horizons, coalesce(r.lateRuns, 0) AS lateRuns
