// Save how far the findings follow the graph, in the transaction that writes them.
// access: write
// params: $graph STRING, $version STRING, $revision INTEGER, $changedAt DATETIME,
//   $passedAt DATETIME, $fullPassAt DATETIME
// returns: nothing
// example: run by `headwater detect`
MATCH (d:Detector {name: 'graph'})
SET d.passes = coalesce(d.passes, 0) + 1, d.graph = $graph, d.version = $version, d.revision = $revision,
  d.changedAt = $changedAt,  d.passedAt = $passedAt, d.fullPassAt = $fullPassAt
