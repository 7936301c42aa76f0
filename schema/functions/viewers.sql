-- What an account sees: blocks in both directions, and labels of trusted labelers (skua.trusted_accounts). Functions with an
-- argument `viewer` call these. An account number of null stands for a person who is not signed in.
--
-- PL/pgSQL keeps the plan for the session, and each condition looks up an index. Most of the time of a call is the start of its
-- plans. Therefore the joins are in statements of their own, for the few accounts that block lists and the few records that have
-- such a label.

CREATE OR REPLACE FUNCTION bsky.is_blocked(a int8, b int8) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF (a <> b) IS NOT TRUE THEN
    RETURN false;
  END IF;
  IF EXISTS (SELECT FROM bsky.blocks x WHERE x.subject_actor = b AND x.actor_id = a
             UNION ALL SELECT FROM bsky.blocks x WHERE x.subject_actor = a AND x.actor_id = b) THEN
    RETURN true;
  END IF;
  IF NOT EXISTS (SELECT FROM bsky.list_blocks x WHERE x.actor_id = a UNION ALL SELECT FROM bsky.list_blocks x WHERE x.actor_id = b) THEN
    RETURN false;
  END IF;
  RETURN EXISTS (SELECT FROM bsky.list_block_pairs x WHERE x.actor_id = a AND x.subject_actor = b)
    OR EXISTS (SELECT FROM bsky.list_block_pairs x WHERE x.actor_id = b AND x.subject_actor = a);
END
$$;
COMMENT ON FUNCTION bsky.is_blocked(int8, int8) IS 'Returns true if one of two accounts (bsky.actors.id) blocks the other one, directly or by a moderation list. An account does not block itself.';

CREATE OR REPLACE FUNCTION bsky.has_hiding_label(viewer_id int8, actor_id int8, collection_id int4, rkey int8) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
BEGIN
  IF NOT EXISTS (
    SELECT FROM bsky.labels l
    WHERE l.subject_actor = has_hiding_label.actor_id AND l.subject_collection = 0 AND l.subject_rkey = 0
      AND l.val IN ('!takedown', '!suspend', '!hide')
    UNION ALL
    SELECT FROM bsky.labels l
    WHERE l.subject_actor = has_hiding_label.actor_id AND l.subject_collection = has_hiding_label.collection_id
      AND l.subject_rkey = has_hiding_label.rkey AND l.val IN ('!takedown', '!suspend', '!hide')) THEN
    RETURN false;
  END IF;
  RETURN EXISTS (
    SELECT FROM bsky.labels l
    JOIN bsky.actors s ON s.id = l.actor_id AND s.active IS NOT FALSE
    JOIN skua.trusted_accounts t ON t.role = 'labeler' AND t.did = s.did
    WHERE l.subject_actor = has_hiding_label.actor_id
      AND ((l.subject_collection = 0 AND l.subject_rkey = 0)
           OR (l.subject_collection = has_hiding_label.collection_id AND l.subject_rkey = has_hiding_label.rkey))
      AND (l.val IN ('!takedown', '!suspend')
           OR (l.val = '!hide' AND has_hiding_label.actor_id IS DISTINCT FROM viewer_id))
      AND NOT l.neg AND (l.exp IS NULL OR l.exp > now()));
END
$$;
COMMENT ON FUNCTION bsky.has_hiding_label(int8, int8, int4, int8) IS 'Returns true if a label of a trusted labeler (skua.trusted_accounts) hides a record from a viewer: !takedown, !suspend or !hide, of the record or of its account. !hide does not hide the viewer''s own records.';

CREATE OR REPLACE FUNCTION bsky.is_hidden_from(viewer_id int8, actor_id int8, collection_id int4, rkey int8) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN bsky.is_blocked(viewer_id, actor_id) OR bsky.has_hiding_label(viewer_id, actor_id, collection_id, rkey);
END
$$;
COMMENT ON FUNCTION bsky.is_hidden_from(int8, int8, int4, int8) IS 'Returns true if a viewer does not see a record: its author and the viewer are blocked (bsky.is_blocked), or a label hides it (bsky.has_hiding_label).';

CREATE OR REPLACE FUNCTION bsky.hides_reply(viewer_id int8, actor_id int8, rkey int8) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
BEGIN
  RETURN EXISTS (
    SELECT FROM bsky.posts p
    JOIN bsky.threadgates g ON g.actor_id = p.root_actor AND g.rkey = p.root_rkey
      AND g.post_actor = g.actor_id AND g.post_rkey = g.rkey
    WHERE p.actor_id = hides_reply.actor_id AND p.rkey = hides_reply.rkey AND p.root_actor = viewer_id
      AND g.hidden_replies @> ARRAY[bsky.uri(p.actor_id, 1, p.rkey)]);
END
$$;
COMMENT ON FUNCTION bsky.hides_reply(int8, int8, int8) IS 'Returns true if the viewer hides this reply in a thread of the viewer.';

-- With OFFSET the accounts are looked up once.
CREATE OR REPLACE FUNCTION bsky.relationship(account text, other text)
RETURNS TABLE (name text, did text, following text, followed_by text, blocking text, blocked_by text,
  blocking_by_list text, blocked_by_list text, actor_id int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $$
  SELECT coalesce(o.handle, o.did), o.did,
    (SELECT bsky.uri(f.actor_id, 7, min(f.rkey)) FROM bsky.follows f
     WHERE f.subject_actor = o.id AND f.actor_id = k.a AND k.a <> o.id GROUP BY f.actor_id),
    (SELECT bsky.uri(f.actor_id, 7, min(f.rkey)) FROM bsky.follows f
     WHERE f.subject_actor = k.a AND f.actor_id = o.id AND k.a <> o.id GROUP BY f.actor_id),
    (SELECT bsky.uri(b.actor_id, 8, min(b.rkey)) FROM bsky.blocks b
     WHERE b.subject_actor = o.id AND b.actor_id = k.a AND k.a <> o.id GROUP BY b.actor_id),
    (SELECT bsky.uri(b.actor_id, 8, min(b.rkey)) FROM bsky.blocks b
     WHERE b.subject_actor = k.a AND b.actor_id = o.id AND k.a <> o.id GROUP BY b.actor_id),
    (SELECT bsky.uri(b.list_actor, 9, b.list_rkey) FROM bsky.list_block_pairs b
     WHERE b.actor_id = k.a AND b.subject_actor = o.id AND k.a <> o.id ORDER BY b.rkey LIMIT 1),
    (SELECT bsky.uri(b.list_actor, 9, b.list_rkey) FROM bsky.list_block_pairs b
     WHERE b.actor_id = o.id AND b.subject_actor = k.a AND k.a <> o.id ORDER BY b.rkey LIMIT 1),
    o.id
  FROM (SELECT bsky.actor_id(account) AS a, bsky.actor_id(other) AS b OFFSET 0) k
  JOIN bsky.actors o ON o.id = k.b
  WHERE k.a IS NOT NULL
$$;
COMMENT ON FUNCTION bsky.relationship(text, text) IS 'The relationship of an account to another one: name and did are those of the other account. following and blocking are the AT-URIs of the first records of the account, followed_by and blocked_by those of the other account, blocking_by_list and blocked_by_list those of a moderation list with the blocked account. Null: there is none. No row if an account is not known. Accounts are DIDs, handles or bsky.app URLs.';
