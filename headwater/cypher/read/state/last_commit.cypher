// Return when the checkpoint of a spool was last saved.
// access: read
// params: $spool STRING
// returns: at
// example: headwater cypher read/state/last_commit --param spool=ID
MATCH (c:Checkpoint {spool: $spool})
RETURN c.at AS at
