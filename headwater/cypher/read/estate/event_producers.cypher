// Return the producers of received events, those with the most events first. $producer is the
// beginning of a name.
// access: read
// params: $producer STRING = "", $limit INTEGER = 100
// returns: producer, events, first, last, futureEvents, skewMin, skewMedian, skewMax
// example: headwater cypher read/estate/event_producers --param
//   producer=https://github.com/OpenLineage
MATCH (n:Producer)
WHERE n.producer STARTS WITH $producer
RETURN n.producer AS producer, n.events AS events, n.first AS first, n.last AS last,
  n.futureEvents AS futureEvents,
  n.skewMin AS skewMin, n.skewMedian AS skewMedian, n.skewMax AS skewMax
ORDER BY events DESC, producer
LIMIT $limit
