// Save how far the findings follow the graph, in the transaction that writes them. Return the
// number of passes that changed findings.
// access: write
// params: $graph STRING, $version STRING, $revision INTEGER, $changedAt DATETIME,
//   $fullPassAt DATETIME = null
// returns: passes
// example: run by `headwater detect`
MATCH (d:Detector {name: 'graph'})
SET d.graph = $graph, d.version = $version, d.revision = $revision, d.changedAt = $changedAt,
  d.passedAt = datetime.realtime(), d.fullPassAt = $fullPassAt
RETURN d.passes AS passes
