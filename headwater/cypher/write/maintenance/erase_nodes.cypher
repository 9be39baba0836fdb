// Delete $limit nodes, in the order of a scan. The records of migrations and the write lock stay.
// access: write
// params: $limit INTEGER
// returns: erased
// example: run by `headwater rebuild --erase`
CALL () {
  MATCH (n:Analysis|Answer|Artifact|Column|Dataset|Finding|Job|PipelineRun|Producer|Receipt|
    Retention|RunSummary|SchemaVersion|Source|Symlink|Tag)
  WITH n LIMIT $limit
  DETACH DELETE n
  RETURN count(n) AS erased
}
RETURN erased
