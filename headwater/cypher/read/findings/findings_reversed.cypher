// Return a page of findings, oldest evidence first. $since and $until (exclusive) bound the time in
// which a finding was open. $cursorTime and $cursorUrn are the last row of the page before.
// $visible: the visible namespaces, as regular expressions; null: all.
// access: read
// params: $open BOOLEAN = null, $rule STRING = "", $tier STRING = "", $subject STRING = "",
//   $root STRING = "", $owner STRING = "", $namespace STRING = "", $since DATETIME,
//   $until DATETIME, $visible LIST<STRING> = null,
//   $cursorTime DATETIME, $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, at, properties
// example: run for the list of findings
MATCH (f:Finding)
WHERE f.isOpen IN CASE WHEN $open IS NULL THEN [true, false] ELSE [$open] END
  AND f.lastSeen >= $cursorTime
  AND NOT (f.lastSeen = $cursorTime AND f.urn >= $cursorUrn)
  AND ($rule = '' OR f.rule = $rule) AND ($tier = '' OR f.tier = $tier)
  AND ($subject = '' OR f.subject = $subject) AND ($root = '' OR f.root = $root)
  AND ($owner = '' OR $owner IN f.owners) AND ($namespace = '' OR $namespace IN f.namespaces)
  AND f.firstSeen < $until AND coalesce(f.resolvedAt >= $since, true)
  AND ($visible IS NULL OR size(f.namespaces) > 0
    AND all(n IN f.namespaces WHERE any(p IN $visible WHERE n =~ p)))
RETURN f.urn AS urn, f.lastSeen AS at, properties(f) AS properties
ORDER BY at, urn DESC
LIMIT $limit
