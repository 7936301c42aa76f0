-- Conditions that read a whole table although another form of them uses an index. The plan shows them: PostgreSQL computes a
-- value for each row, and compares it. In a query database, the plan shows the conditions that are not sent to the nodes, so that
-- whole tables are transferred.

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
     'sort_at > ...; `skua index add created-at`'),
    ($p$Foreign Scan[^\n]*\n *Filter: [^\n]*\w IS NOT FALSE$p$,
     'is not false',
     'active is distinct from false'),
    ($p$Foreign Scan[^\n]*\n *Filter: [^\n]*\(now\(\) - $p$,
     'a comparison with now() - interval',
     'sort_at > (select now() - interval ''1 day'')'),
    ($p$Foreign Scan[^\n]*\n *Filter: [^\n]*\mbsky\.actor_id\($p$,
     'a comparison with bsky.actor_id(...)',
     'actor_id = (select bsky.actor_id(''bsky.app''))'),
    ($p$Foreign Scan[^\n]*\n *Filter: [^\n]*\mLEAST\((\w+\.)?created_at, (\w+\.)?indexed_at\)$p$,
     'least(created_at, indexed_at)',
     'sort_at'),
    ($p$Foreign Scan[^\n]*\n *Filter: [^\n]*\mCOALESCE\((\w+\.)?handle, (\w+\.)?did\)$p$,
     'coalesce(handle, did)',
     'handle_or_did')
  ) AS r(pattern, condition, fast_form)
  WHERE plan ~ r.pattern;
END
$$;
COMMENT ON FUNCTION bsky.slow_conditions(text) IS 'The conditions of a query that read a whole table, and the form of each that uses an index, or that a query database sends to its nodes. It looks at the plan of the query, and does not run it: select * from bsky.slow_conditions($$select ...$$). `skua export --sql` prints the same.';
