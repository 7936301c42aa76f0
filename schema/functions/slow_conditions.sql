-- Conditions that read a whole table although another form of them uses an index. The plan shows them: PostgreSQL computes a
-- value for each row, and compares it.

CREATE OR REPLACE FUNCTION bsky.slow_conditions(query text) RETURNS TABLE (condition text, fast_form text)
LANGUAGE plpgsql AS $$
DECLARE
  plan text := '';
  line text;
BEGIN
  -- With an option in parentheses, a query that begins with ANALYZE is an error and does not run.
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE false) ' || query LOOP
    plan := plan || line || E'\n';
  END LOOP;
  RETURN QUERY
  SELECT r.condition, r.fast_form
  FROM (VALUES
    ($p$(Filter|Cond): [^\n]*'at://'::text \|\|[^\n]* = $p$,
     'a comparison of uri, or of another AT-URI such as subject_uri',
     'compare the key, which bsky.resolve_uri(''at://...'') returns: (actor_id, rkey), or (subject_actor, subject_collection, subject_rkey). bsky.post(''at://...'') is the post of a URI. bsky.replies_view and bsky.quotes_view join posts'),
    ($p$Filter: [^\n]*= ANY \((\w+\.)?(all_tags|links|link_hosts|mentions)\)$p$,
     '= any (...) of an array, such as all_tags',
     'all_tags @> array[''art''], and the same for links, link_hosts and mentions'),
    ($p$Seq Scan on actors[^\n]*\n *Filter: [^\n]*COALESCE\((\w+\.)?handle, (\w+\.)?did\) (=|~~|>=|~>=~) $p$,
     'a condition on name',
     'actor_id = bsky.actor_id(''bsky.app''); `skua index add names` for any condition on names'),
    ($p$Seq Scan on posts[^\n]*\n *Filter: [^\n]*\(?(\w+\.)?created_at [<>]$p$,
     'a comparison of created_at',
     'sort_at > ...; `skua index add created-at`')
  ) AS r(pattern, condition, fast_form)
  WHERE plan ~ r.pattern;
END
$$;
COMMENT ON FUNCTION bsky.slow_conditions(text) IS 'The conditions of a query that read a whole table, and the form of each that uses an index. It looks at the plan of the query, and does not run it: select * from bsky.slow_conditions($$select ...$$). `skua export --sql` prints the same.';
