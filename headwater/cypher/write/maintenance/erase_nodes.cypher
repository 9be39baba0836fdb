// Delete $limit nodes, in the order of a scan. The records of migrations, the write lock,
// snapshots and findings stay.
// access: write
// params: $limit INTEGER
// returns: erased
// example: run by `headwater rebuild --erase`
CALL () {
  MATCH (n:Analysis|Answer|Artifact|Column|ConformanceFinding|Dataset|Job|PipelineRun|Producer|
    Receipt|Retention|RunSummary|SchemaVersion|Source|Symlink|Tag)
  WITH n LIMIT $limit
  DETACH DELETE n
  RETURN count(n) AS erased
}
RETURN erased
