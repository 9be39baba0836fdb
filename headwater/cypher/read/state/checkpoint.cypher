// How far the events of one spool have been folded, and how many of them were folded or set aside.
// access: read
// params: $spool STRING
// returns: position, folded, dead, settled
// example: headwater cypher read/state/checkpoint --param spool=ID
MATCH (c:Checkpoint {spool: $spool})
RETURN c.position AS position, c.folded AS folded, c.dead AS dead, c.settled AS settled
