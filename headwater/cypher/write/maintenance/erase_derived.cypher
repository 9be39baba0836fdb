// Delete $limit nodes that were derived from the graph: findings, deliveries, snapshots.
// They come in the order of a scan of their labels.
// access: write
// params: $limit INTEGER
// returns: erased
// example: run by `headwater forget`
CALL () {
  MATCH (n:Delivery|Detector|FigureSnapshot|Finding)
  WITH n LIMIT $limit
  DETACH DELETE n
  RETURN count(n) AS erased
}
RETURN erased
