// Return the time by the clock of Neo4j.
// access: read
// params: none
// returns: now
// example: run for subscriptions
RETURN datetime.realtime() AS now
