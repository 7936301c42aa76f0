-- Names and addresses of accounts and records, as people write them.

CREATE OR REPLACE FUNCTION bsky.at_uri(address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN address LIKE 'https://bsky.app/%' THEN
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(address,
      '^https://bsky\.app/profile/([^/?#]+)/post/([^/?#]+).*$', 'at://\1/app.bsky.feed.post/\2'),
      '^https://bsky\.app/profile/([^/?#]+)/feed/([^/?#]+).*$', 'at://\1/app.bsky.feed.generator/\2'),
      '^https://bsky\.app/profile/([^/?#]+)/lists/([^/?#]+).*$', 'at://\1/app.bsky.graph.list/\2'),
      '^https://bsky\.app/starter-pack/([^/?#]+)/([^/?#]+).*$', 'at://\1/app.bsky.graph.starterpack/\2')
    ELSE address END
$$;
COMMENT ON FUNCTION bsky.at_uri(text) IS 'The AT-URI of a bsky.app URL of a post, feed, list or starter pack. Any other text is returned unchanged.';

-- PL/pgSQL keeps the plan for the session. A function in SQL whose call the planner does not replace is planned again for
-- each call.
CREATE OR REPLACE FUNCTION bsky.actor_id(account text) RETURNS int8
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  name CONSTANT text := substring(account from '^(?:@+|at://|https://bsky\.app/profile/)?([^/?#]*)');
BEGIN
  IF name LIKE 'did:%' THEN
    RETURN (SELECT a.id FROM bsky.actors a WHERE a.did = name);
  END IF;
  RETURN (SELECT a.id FROM bsky.actors a WHERE a.handle = lower(name) ORDER BY a.handle_time DESC NULLS LAST LIMIT 1);
END
$$;
COMMENT ON FUNCTION bsky.actor_id(text) IS 'The number of an account, by DID, handle or bsky.app URL of its profile. If several accounts claim a handle: the last one to do so.';

-- With OFFSET the account is looked up once.
CREATE OR REPLACE FUNCTION bsky.resolve_uri(uri text)
RETURNS TABLE (actor_id int8, collection_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT a.id, c.id, bsky.rkey_number(split_part(bsky.at_uri(uri), '/', 5))
  FROM bsky.collections c
  CROSS JOIN LATERAL (SELECT bsky.actor_id(split_part(bsky.at_uri(uri), '/', 3)) OFFSET 0) AS a(id)
  WHERE c.nsid = split_part(bsky.at_uri(uri), '/', 4) AND bsky.at_uri(uri) LIKE 'at://%' AND a.id IS NOT NULL
$$;
COMMENT ON FUNCTION bsky.resolve_uri(text) IS 'The key of an AT-URI, by DID or handle, or of a bsky.app URL, for joining with the tables through their primary keys. No row if the account or the collection is not known.';
