-- The groups of accounts (ADR 18). libs/foundation/atproto/account_group.hpp has the same function.

CREATE OR REPLACE FUNCTION bsky.account_group(did text) RETURNS int4
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT get_byte(sha256(convert_to(did, 'UTF8')), 0) >> 2 $$;
COMMENT ON FUNCTION bsky.account_group(text) IS 'The group of an account, 0 to 63: the first six bits of the SHA-256 of its DID.';

CREATE OR REPLACE FUNCTION skua.is_node() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT g.group_shift = 57 FROM skua.account_groups AS g $$;
COMMENT ON FUNCTION skua.is_node() IS 'True if this database is a node of a network, or its query database.';

-- Numbers that all nodes of a network compute with the same result (ADR 19). libs/foundation/atproto/computed_number.hpp has
-- the same functions.

CREATE OR REPLACE FUNCTION skua.keyed_bits(key bytea, name text) RETURNS int8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT ('x' || encode(substring(sha256(key || convert_to(name, 'UTF8')) FOR 8), 'hex'))::bit(64)::int8 $$;
COMMENT ON FUNCTION skua.keyed_bits(bytea, text) IS 'The first eight bytes of the SHA-256 of a key and a name, as a number.';

-- PostgreSQL inlines this function, which is ten times as fast. With `greatest` in place of `int8larger` it would not.
CREATE OR REPLACE FUNCTION skua.computed_account_number(key bytea, did text) RETURNS int8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT bsky.account_group(did)::int8 << 57 | int8larger(skua.keyed_bits(key, did) & ((1::int8 << 57) - 1), 1) $$;
COMMENT ON FUNCTION skua.computed_account_number(bytea, text) IS 'The number of an account on the nodes with this key: its group in the bits from 2^57 on, and 57 bits of a hash. Never 0.';

CREATE OR REPLACE FUNCTION skua.computed_collection_number(key bytea, nsid text) RETURNS int4
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT (1000 + (skua.keyed_bits(key, nsid) & 9223372036854775807) % 2147482648)::int4 $$;
COMMENT ON FUNCTION skua.computed_collection_number(bytea, text) IS 'The number of a collection without a table of its own on the nodes with this key, from 1000 to 2147483647.';

-- Reads no table, so that PostgreSQL inlines it in statements that number many accounts.
CREATE OR REPLACE FUNCTION skua.new_account_number(key bytea, numbers_have_group boolean, did text) RETURNS int8
LANGUAGE sql VOLATILE
AS $$
  SELECT CASE
    WHEN key IS NOT NULL THEN skua.computed_account_number(key, did)
    WHEN numbers_have_group THEN bsky.account_group(did)::int8 << 46 | nextval('bsky.actors_id_seq')
    ELSE nextval('bsky.actors_id_seq')
  END
$$;
COMMENT ON FUNCTION skua.new_account_number(bytea, boolean, text) IS 'A new number for an account, by the row of skua.number_scheme.';
REVOKE EXECUTE ON FUNCTION skua.new_account_number(bytea, boolean, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.number_scheme() RETURNS TABLE (key bytea, numbers_have_group boolean)
LANGUAGE sql STABLE ROWS 1
AS $$
  SELECT k.key, g.numbers_have_group FROM skua.account_groups AS g LEFT JOIN skua.number_key AS k ON true LIMIT 1
$$;
COMMENT ON FUNCTION skua.number_scheme() IS 'The scheme by which the database makes account numbers. The key is null in a database that is no node.';
REVOKE EXECUTE ON FUNCTION skua.number_scheme() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.new_account_number(did text) RETURNS int8
LANGUAGE sql VOLATILE
AS $$
  SELECT skua.new_account_number(s.key, s.numbers_have_group, did) FROM skua.number_scheme() AS s
$$;
COMMENT ON FUNCTION skua.new_account_number(text) IS 'A new number for an account. On a node it is computed. Otherwise it has the group in the bits from 2^46 on, and the next value of the sequence; in a database whose numbers have no group, it is the next value alone.';
REVOKE EXECUTE ON FUNCTION skua.new_account_number(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.new_collection_number(nsid text) RETURNS int4
LANGUAGE sql VOLATILE
AS $$
  SELECT CASE
    WHEN k.key IS NOT NULL THEN skua.computed_collection_number(k.key, nsid)
    ELSE nextval('bsky.collections_id_seq')::int4
  END
  FROM skua.account_groups AS g
  LEFT JOIN skua.number_key AS k ON true
$$;
COMMENT ON FUNCTION skua.new_collection_number(text) IS 'A new number for a collection: computed on a node, otherwise the next value of the sequence.';
REVOKE EXECUTE ON FUNCTION skua.new_collection_number(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.resend_references(groups int4[]) RETURNS void
LANGUAGE sql VOLATILE
AS $$
  INSERT INTO skua.mentioned_accounts (dids)
  SELECT array_agg(a.did)
  FROM (
    SELECT a.did, (row_number() OVER () - 1) / 200 AS list
    FROM bsky.actors AS a
    WHERE (a.id >> 57)::int4 = ANY (groups) AND EXISTS (SELECT 1 FROM skua.number_key)
  ) AS a
  GROUP BY a.list;
  INSERT INTO skua.waiting_references (account_group, actor_id, collection_id, rkey, text)
  SELECT k.actor_id >> 57, k.actor_id, k.collection_id, k.rkey, k.text
  FROM bsky.rkeys AS k
  WHERE (k.actor_id >> 57)::int4 = ANY (groups) AND EXISTS (SELECT 1 FROM skua.number_key);
  -- The projection notifications has told them before.
  INSERT INTO skua.waiting_references (account_group, actor_id, rkey, text, distance, reply_actor, reply_rkey, reply_at)
  SELECT r.post_actor >> 57, r.post_actor, r.post_rkey, '', r.distance, r.actor_id, r.rkey, r.sort_at
  FROM (
    SELECT p.parent_actor AS post_actor, p.parent_rkey AS post_rkey, 1 AS distance, p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at
    FROM bsky.posts AS p WHERE p.cid IS NOT NULL
    UNION ALL
    SELECT p.parent_actor, p.parent_rkey, b.distance + 1, b.actor_id, b.rkey, b.sort_at
    FROM skua.replies_below AS b JOIN bsky.posts AS p ON p.actor_id = b.post_actor AND p.rkey = b.post_rkey
    WHERE p.cid IS NOT NULL AND b.distance < 3
  ) AS r
  WHERE (r.post_actor >> 57)::int4 = ANY (groups) AND EXISTS (SELECT 1 FROM skua.number_key)
    AND EXISTS (SELECT 1 FROM skua.consumers AS c WHERE c.name = 'notifications' AND c.role = 'live');
$$;
COMMENT ON FUNCTION skua.resend_references(int4[]) IS 'Queues all accounts of these groups of another node in skua.mentioned_accounts, and their record keys and replies in skua.waiting_references. For a node that lost its newest rows, for example by a restore of a backup.';
REVOKE EXECUTE ON FUNCTION skua.resend_references(int4[]) FROM PUBLIC;

-- A row without an account and a text is a request: `skua run` delivers it like the other rows.
CREATE OR REPLACE FUNCTION skua.request_references() RETURNS void
LANGUAGE sql VOLATILE
AS $$
  INSERT INTO skua.waiting_references (account_group, text)
  SELECT n.owned[1], ''
  FROM skua.nodes AS n CROSS JOIN skua.account_groups AS g
  WHERE cardinality(n.owned) > 0 AND NOT n.owned && g.owned AND EXISTS (SELECT 1 FROM skua.number_key);
$$;
COMMENT ON FUNCTION skua.request_references() IS 'Lets all other nodes send everything again that their records mention of the accounts of this node. For a node that is new or lost its newest rows.';
REVOKE EXECUTE ON FUNCTION skua.request_references() FROM PUBLIC;
COMMENT ON COLUMN skua.waiting_references.text IS 'A DID, the text of a record key, or a URI. Empty, and without an account: the other node is asked to send all references to accounts of this node again.';

CREATE OR REPLACE FUNCTION skua.newest_drawn_number() RETURNS int8
LANGUAGE sql STABLE
AS $$
  SELECT CASE WHEN (SELECT g.group_shift = 46 FROM skua.account_groups AS g) THEN coalesce(max(newest.id & 70368744177663), 0) END
  FROM generate_series(0, 63) AS g
  CROSS JOIN LATERAL (
    SELECT a.id FROM bsky.actors AS a WHERE a.id >= g::int8 << 46 AND a.id < (g + 1)::int8 << 46 ORDER BY a.id DESC LIMIT 1
  ) AS newest
$$;
COMMENT ON FUNCTION skua.newest_drawn_number() IS 'The greatest value of the sequence of account numbers that an account has, from one entry of the primary key for each group; 0: there are no accounts; null: the numbers are computed.';

CREATE OR REPLACE FUNCTION skua.random_account_number() RETURNS int8
LANGUAGE sql VOLATILE
AS $$
  SELECT coalesce((floor(random() * ((max(a.id) >> 46) + 1))::int8 << 46) + (random() * (max(a.id) & 70368744177663))::int8, 0)
  FROM bsky.actors AS a
$$;
COMMENT ON FUNCTION skua.random_account_number() IS 'A number at which a scan of a sample of accounts begins: a random place among the accounts of a random group. Not each number belongs to an account. 0 if there are no accounts.';
