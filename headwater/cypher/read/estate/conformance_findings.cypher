// Return the conformance findings in the events of the given producers, most frequent first, up to
// $limit for each producer.
// access: read
// params: $producers LIST<STRING>, $limit INTEGER = 200
// returns: producer, rule, field, count, first, last, sequence, example, detail
// example: headwater cypher read/estate/conformance_findings --param producers=NAME,NAME
UNWIND $producers AS producer
CALL (producer) {
  MATCH (n:ConformanceFinding {producer: producer})
  RETURN n
  ORDER BY n.count DESC, n.rule, n.field
  LIMIT $limit
}
RETURN producer, n.rule AS rule, n.field AS field, n.count AS count, n.first AS first,
  n.last AS last,
  n.sequence AS sequence, n.example AS example, n.detail AS detail
ORDER BY producer, count DESC, rule, field
