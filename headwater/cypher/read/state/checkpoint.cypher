// Return the position up to which the events of a spool are folded, with the counts of folded and
// dead-lettered events.
// access: read
// params: $spool STRING
// returns: position, folded, dead, settled, received
// example: headwater cypher read/state/checkpoint --param spool=ID
MATCH (c:Checkpoint {spool: $spool})
RETURN c.position AS position, c.folded AS folded, c.dead AS dead, c.settled AS settled,
       c.received AS received
