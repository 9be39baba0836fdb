// Count the findings that read/findings/findings lists on all pages, by a scan of all findings.
// access: read
// params: $open BOOLEAN = null, $rule STRING = "", $tier STRING = "", $subject STRING = "",
//   $root STRING = "", $owner STRING = "", $namespace STRING = "", $since DATETIME,
//   $until DATETIME, $visible LIST<STRING> = null
// returns: count
// example: run for the list of findings
MATCH (f:Finding)
WHERE f.isOpen IN CASE WHEN $open IS NULL THEN [true, false] ELSE [$open] END
  AND ($rule = '' OR f.rule = $rule) AND ($tier = '' OR f.tier = $tier)
  AND ($subject = '' OR f.subject = $subject) AND ($root = '' OR f.root = $root)
  AND ($owner = '' OR $owner IN f.owners) AND ($namespace = '' OR $namespace IN f.namespaces)
  AND f.firstSeen < $until AND coalesce(f.resolvedAt >= $since, true)
  AND ($visible IS NULL OR size(f.namespaces) > 0
    AND all(n IN f.namespaces WHERE any(p IN $visible WHERE n =~ p)))
RETURN count(*) AS count
