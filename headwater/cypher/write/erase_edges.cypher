// Erase some edges, whichever a scan meets first.
// access: write
// params: $limit INTEGER
// returns: erased
// example: run by `headwater rebuild --erase`
CALL () {
  MATCH ()-[e:CITED_BY|DERIVED_FROM|DROPPED|FEEDS|HAS_COLUMN|HAS_SCHEMA|PART_OF|PRODUCED|RETRY_OF|RUN_OF|SYMLINK_OF|TRIGGERS|VERSION_OF]->()
  WITH e LIMIT $limit
  DELETE e
  RETURN count(e) AS erased
}
RETURN erased
