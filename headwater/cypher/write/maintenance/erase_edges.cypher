// Delete $limit edges, in the order of a scan of their types.
// access: write
// params: $limit INTEGER
// returns: erased
// example: run by `headwater rebuild --erase`
CALL () {
  CALL () {
    MATCH ()-[e:ABOUT]->() RETURN e
    UNION ALL
    MATCH ()-[e:CITED_BY]->() RETURN e
    UNION ALL
    MATCH ()-[e:DERIVED_FROM]->() RETURN e
    UNION ALL
    MATCH ()-[e:DROPPED]->() RETURN e
    UNION ALL
    MATCH ()-[e:FEEDS]->() RETURN e
    UNION ALL
    MATCH ()-[e:HAS_COLUMN]->() RETURN e
    UNION ALL
    MATCH ()-[e:HAS_SCHEMA]->() RETURN e
    UNION ALL
    MATCH ()-[e:PART_OF]->() RETURN e
    UNION ALL
    MATCH ()-[e:PRODUCED]->() RETURN e
    UNION ALL
    MATCH ()-[e:RETRY_OF]->() RETURN e
    UNION ALL
    MATCH ()-[e:RUN_OF]->() RETURN e
    UNION ALL
    MATCH ()-[e:SUMMARY_OF]->() RETURN e
    UNION ALL
    MATCH ()-[e:SYMLINK_OF]->() RETURN e
    UNION ALL
    MATCH ()-[e:TRIGGERS]->() RETURN e
    UNION ALL
    MATCH ()-[e:VERSION_OF]->() RETURN e
  }
  WITH e LIMIT $limit
  DELETE e
  RETURN count(e) AS erased
}
RETURN erased
