// By which rules, and at which moments, the detail of old runs was rolled up, as JSON; nothing where that never was.
// access: read
// params: none
// returns: horizons, late
// example: headwater cypher read/state/retention
MATCH (r:Retention {name: 'graph'})
RETURN r.horizons AS horizons, coalesce(r.late, 0) AS late
