-- projection: post_rules
-- version: 4
-- help: Replies and quotes that break the rules of a thread or a post

-- The result follows from the tables and not from the order of the changes: a fold judges the posts that a batch concerns, and
-- makes the stored rows equal to the judgement. One gate or list item can concern all replies of a thread. These replies wait
-- in a queue (post_queue.sql), and each drain judges a limited number of them.
--
-- The live consumer appends its changes to the log (kind 6), so that counts and notifications follow. A reply that violates a
-- threadgate has a reference of delta -1 to its parent, so that the sum over the log is the number of the other replies.

-- table: post_rules
rkey int8 NOT NULL, root_rkey int8, parent_rkey int8, actor_id int8 NOT NULL, root_actor int8, parent_actor int8,
violates_threadgate boolean NOT NULL, violates_embedding_rules boolean NOT NULL, is_hidden boolean NOT NULL,
has_invalid_root boolean NOT NULL, PRIMARY KEY (actor_id, rkey)
-- index: (root_actor, actor_id) WHERE root_actor IS NOT NULL
-- index: (parent_actor, parent_rkey) WHERE violates_threadgate

-- view
SELECT skua.declare_projection('post_rules', 'actor_id int8, rkey int8, root_actor int8, root_rkey int8, parent_actor int8,
  parent_rkey int8, violates_threadgate boolean, violates_embedding_rules boolean, is_hidden boolean,
  has_invalid_root boolean');
COMMENT ON VIEW bsky.post_rules IS 'Posts that break rules, and replies for which the rules of the threadgate depend on follows or lists. Empty until `skua consumers add post_rules` has built it. A post without a row breaks no rule.';
COMMENT ON COLUMN bsky.post_rules.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_rules.root_actor IS 'The account of the first post of the thread (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.root_rkey IS 'The record key of the first post of the thread, as a number.';
COMMENT ON COLUMN bsky.post_rules.parent_actor IS 'The account of the parent post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.parent_rkey IS 'The record key of the parent post, as a number.';
COMMENT ON COLUMN bsky.post_rules.violates_threadgate IS 'True if the threadgate of the first post does not allow the author to reply. The author of the first post always may. A list counts with the items of its owner. The reply does not count in the replies of its parent, and notifies nobody of a reply.';
COMMENT ON COLUMN bsky.post_rules.violates_embedding_rules IS 'True if the postgate of the quoted post forbids quotes by others, or detaches this quote. The post does not notify the author of the quoted post.';
COMMENT ON COLUMN bsky.post_rules.is_hidden IS 'True if the threadgate names the reply in hiddenReplies.';
COMMENT ON COLUMN bsky.post_rules.has_invalid_root IS 'True if the parent is known and belongs to another thread than the reply states.';

-- include: post_queue

-- A key has one of these kinds. 1: the thread of a post. 2: the quotes of a post. 3: the replies to a post. 4: the replies of
-- an account (actor_id) in threads of another account (rkey). 5: all replies of an account. The account of a key is the author
-- of the gate, post, follow or list item that changed.

-- fragment: queue_with
changed AS MATERIALIZED (
  SELECT * FROM skua.changes_between($1::int8, $2::int8) WHERE kind = 1 AND collection_id IN (1, 4, 5)
),
refs AS MATERIALIZED (
  SELECT * FROM skua.references_between($1::int8, $2::int8) WHERE role IN (5, 11)
),

-- fragment: queue_keys
SELECT c.actor_id AS account, 1 AS kind, c.actor_id, c.rkey, c.pos FROM changed AS c WHERE (c.collection_id = 4
    OR c.collection_id = 1 AND EXISTS (SELECT 1 FROM bsky.threadgates AS g
      WHERE g.actor_id = c.actor_id AND g.rkey = c.rkey AND g.allow_mentioned))
  AND EXISTS (SELECT 1 FROM bsky.posts AS p WHERE p.root_actor = c.actor_id AND p.root_rkey = c.rkey)
UNION ALL
SELECT c.actor_id, 2, c.actor_id, c.rkey, c.pos FROM changed AS c WHERE c.collection_id = 5
  AND EXISTS (SELECT 1 FROM bsky.posts AS p WHERE p.quote_actor = c.actor_id AND p.quote_rkey = c.rkey)
UNION ALL
SELECT c.actor_id, 3, c.actor_id, c.rkey, c.pos FROM changed AS c WHERE c.collection_id = 1
  AND EXISTS (SELECT 1 FROM bsky.posts AS p WHERE p.parent_actor = c.actor_id AND p.parent_rkey = c.rkey)
UNION ALL
SELECT r.author, 4, v.actor_id, v.root_actor::int8, r.pos FROM refs AS r CROSS JOIN LATERAL (
  VALUES (r.author, r.actor_id), (r.actor_id, r.author)) AS v(actor_id, root_actor)
WHERE r.role = 5 AND r.delta <> 0
  AND EXISTS (SELECT 1 FROM {post_rules} AS t WHERE t.root_actor = v.root_actor AND t.actor_id = v.actor_id)
UNION ALL
SELECT r.author, 5, r.actor_id, 0, r.pos FROM refs AS r WHERE r.role = 11
  AND EXISTS (SELECT 1 FROM {post_rules} AS t WHERE t.actor_id = r.actor_id)

-- fragment: queue_posts
  SELECT p.actor_id, p.rkey FROM bsky.posts AS p
    WHERE q.kind = 1 AND p.root_actor = q.actor_id AND p.root_rkey = q.rkey
  UNION ALL
  SELECT p.actor_id, p.rkey FROM bsky.posts AS p
    WHERE q.kind = 2 AND p.quote_actor = q.actor_id AND p.quote_rkey = q.rkey
  UNION ALL
  SELECT p.actor_id, p.rkey FROM bsky.posts AS p
    WHERE q.kind = 3 AND p.parent_actor = q.actor_id AND p.parent_rkey = q.rkey
  UNION ALL
  SELECT t.actor_id, t.rkey FROM {post_rules} AS t
    WHERE q.kind = 4 AND t.root_actor = q.rkey AND t.actor_id = q.actor_id
  UNION ALL
  SELECT t.actor_id, t.rkey FROM {post_rules} AS t WHERE q.kind = 5 AND t.actor_id = q.actor_id

-- fragment: columns
actor_id, rkey, root_actor, root_rkey, parent_actor, parent_rkey, violates_threadgate, violates_embedding_rules,
  is_hidden, has_invalid_root

-- fragment: judged
-- Judges the posts in `keys` (skua.judged_posts). `mentioned` has the replies whose thread allows mentioned accounts, and whose
-- author the first post mentions. `bsky.posts.mentions` has all mentions of a post with less than 20. The facets of any other post
-- may have 800 kB, so they are searched once for all replies.
judged AS MATERIALIZED (
  SELECT j.* FROM keys AS k CROSS JOIN LATERAL (
    SELECT * FROM skua.judged_posts AS j WHERE j.actor_id = k.actor_id AND j.rkey = k.rkey OFFSET 0) AS j
),
asking AS MATERIALIZED (
  SELECT actor_id, rkey, root_actor, root_rkey FROM judged WHERE violates_unless_mentioned AND allows_mentioned
),
first_posts AS MATERIALIZED (
  SELECT r.* FROM (SELECT DISTINCT root_actor, root_rkey FROM asking) AS t CROSS JOIN LATERAL (
    SELECT r.actor_id, r.rkey, r.mentions, coalesce(cardinality(r.mentions), 0) >= 20 AS has_more,
      CASE WHEN cardinality(r.mentions) >= 20 THEN r.facets END AS facets
    FROM bsky.posts AS r WHERE r.actor_id = t.root_actor AND r.rkey = t.root_rkey OFFSET 0) AS r
),
mentioned AS MATERIALIZED (
  SELECT q.actor_id, q.rkey FROM asking AS q JOIN first_posts AS r ON r.actor_id = q.root_actor AND r.rkey = q.root_rkey
  WHERE q.actor_id = ANY (r.mentions)
  UNION ALL
  SELECT q.actor_id, q.rkey FROM (
    SELECT q.*, (SELECT a.did FROM bsky.actors AS a WHERE a.id = q.actor_id) AS did FROM asking AS q
    JOIN first_posts AS r ON r.actor_id = q.root_actor AND r.rkey = q.root_rkey WHERE r.has_more OFFSET 0) AS q
  WHERE (q.root_actor, q.root_rkey, q.did) IN (SELECT r.actor_id, r.rkey, m.did #>> '{}' FROM first_posts AS r CROSS JOIN LATERAL
    jsonb_path_query(r.facets, '$[*].features[*] ? (@."$type" == "app.bsky.richtext.facet#mention").did') AS m(did)
    WHERE r.has_more)
),
wanted AS MATERIALIZED (
  SELECT j.actor_id, j.rkey, j.root_actor, j.root_rkey, j.parent_actor, j.parent_rkey, v.violates_threadgate,
    j.violates_embedding_rules, j.is_hidden, j.has_invalid_root
  FROM judged AS j
  CROSS JOIN LATERAL (SELECT j.violates_unless_mentioned AND (j.actor_id, j.rkey) NOT IN (
    SELECT m.actor_id, m.rkey FROM mentioned AS m) AS violates_threadgate) AS v
  WHERE j.depends_on_accounts OR v.violates_threadgate OR j.violates_embedding_rules OR j.is_hidden OR j.has_invalid_root
)

-- fragment: append
-- Appends the differences between two sets of rows, `stored` and `wanted`, to the log. This must be the last statement of a
-- transaction. A check appends nothing, because its snapshot is older than the end of the log, and its changes are rolled back.
changed AS (
  SELECT coalesce(w.actor_id, s.actor_id) AS actor_id, coalesce(w.rkey, s.rkey) AS rkey,
    CASE WHEN s.violates_threadgate THEN s.parent_actor END AS from_actor, s.parent_rkey AS from_rkey,
    CASE WHEN w.violates_threadgate THEN w.parent_actor END AS to_actor, w.parent_rkey AS to_rkey
  FROM stored AS s FULL JOIN wanted AS w ON w.actor_id = s.actor_id AND w.rkey = s.rkey
  WHERE coalesce(s.violates_threadgate, false) <> coalesce(w.violates_threadgate, false)
    OR coalesce(s.violates_embedding_rules, false) <> coalesce(w.violates_embedding_rules, false)
    OR coalesce(s.is_hidden, false) <> coalesce(w.is_hidden, false)
    OR coalesce(s.has_invalid_root, false) <> coalesce(w.has_invalid_root, false)
    OR s.violates_threadgate AND (s.parent_actor, s.parent_rkey) IS DISTINCT FROM (w.parent_actor, w.parent_rkey)
),
numbered AS MATERIALIZED (
  SELECT *, n / 1000 AS block, n % 1000 AS place
  FROM (SELECT *, (row_number() OVER (ORDER BY actor_id, rkey) - 1)::int4 AS n FROM changed) AS c
),
changes AS (
  SELECT block, array_agg(6::int2) AS kinds, array_agg(2::int2) AS ops, array_agg(actor_id ORDER BY place) AS actors,
    array_agg(1) AS collections, array_agg(rkey ORDER BY place) AS rkeys, array_agg(0::int8) AS revs,
    array_agg(NULL::bytea) AS cids
  FROM numbered GROUP BY 1
),
refs AS (
  SELECT block, array_agg(place) AS places, array_agg(3::int2) AS roles, array_agg(delta::int2) AS deltas,
    array_agg(actor_id) AS actors, array_agg(1) AS collections, array_agg(rkey) AS rkeys
  FROM (
    SELECT block, place, 1 AS delta, from_actor AS actor_id, from_rkey AS rkey FROM numbered
    WHERE from_actor IS NOT NULL AND (from_actor, from_rkey) IS DISTINCT FROM (to_actor, to_rkey)
    UNION ALL
    SELECT block, place, -1, to_actor, to_rkey FROM numbered
    WHERE to_actor IS NOT NULL AND (from_actor, from_rkey) IS DISTINCT FROM (to_actor, to_rkey)
  ) AS r GROUP BY 1
)
SELECT skua.append_changes(c.kinds, c.ops, c.actors, c.collections, c.rkeys, c.revs, c.cids, NULL, coalesce(r.places, '{}'),
  coalesce(r.roles, '{}'), coalesce(r.deltas, '{}'), coalesce(r.actors, '{}'), coalesce(r.collections, '{}'),
  coalesce(r.rkeys, '{}'))
FROM changes AS c LEFT JOIN refs AS r USING (block)
WHERE current_setting('transaction_isolation') = 'read committed' AND skua.is_logging_changes()

-- fragment: judge
-- Makes the rows of the posts in `keys` equal to the judgement.
{{judged}},
stored AS MATERIALIZED (
  SELECT t.* FROM keys AS k CROSS JOIN LATERAL (SELECT * FROM {post_rules} AS t
    WHERE t.actor_id = k.actor_id AND t.rkey = k.rkey OFFSET 0) AS t
),
removed AS (
  DELETE FROM {post_rules} AS t USING (
    SELECT actor_id, rkey FROM stored EXCEPT SELECT actor_id, rkey FROM wanted
  ) AS old WHERE t.actor_id = old.actor_id AND t.rkey = old.rkey
),
written AS (
  INSERT INTO {post_rules} AS t ({{columns}}) SELECT {{columns}} FROM wanted ORDER BY actor_id, rkey
  ON CONFLICT (actor_id, rkey) DO UPDATE SET root_actor = EXCLUDED.root_actor, root_rkey = EXCLUDED.root_rkey,
    parent_actor = EXCLUDED.parent_actor, parent_rkey = EXCLUDED.parent_rkey,
    violates_threadgate = EXCLUDED.violates_threadgate, violates_embedding_rules = EXCLUDED.violates_embedding_rules,
    is_hidden = EXCLUDED.is_hidden, has_invalid_root = EXCLUDED.has_invalid_root
  WHERE t IS DISTINCT FROM EXCLUDED
),
{{append}} AND EXISTS (SELECT 1 FROM skua.consumers WHERE id = {consumer} AND role = 'live')

-- fill
WITH keys AS MATERIALIZED (
  SELECT p.actor_id, p.rkey FROM bsky.posts AS p JOIN bsky.threadgates AS g
    ON g.actor_id = p.root_actor AND g.rkey = p.root_rkey WHERE p.cid IS NOT NULL
  UNION
  SELECT p.actor_id, p.rkey FROM bsky.posts AS p JOIN bsky.postgates AS e
    ON e.actor_id = p.quote_actor AND e.rkey = p.quote_rkey WHERE p.cid IS NOT NULL AND p.quote_collection = 1
  UNION
  SELECT p.actor_id, p.rkey FROM bsky.posts AS p JOIN bsky.posts AS a
    ON a.actor_id = p.parent_actor AND a.rkey = p.parent_rkey
  WHERE p.cid IS NOT NULL AND a.cid IS NOT NULL AND p.root_actor IS NOT NULL
    AND CASE WHEN (p.parent_actor, p.parent_rkey) = (p.root_actor, p.root_rkey) THEN a.parent_actor IS NOT NULL
      ELSE (a.root_actor, a.root_rkey) IS DISTINCT FROM (p.root_actor, p.root_rkey) END
),
{{judged}}
INSERT INTO {post_rules} ({{columns}}) SELECT {{columns}} FROM wanted ORDER BY actor_id, rkey

-- fold
-- This must be the last statement of a fold, because it locks the end of the log.
WITH keys AS MATERIALIZED (
  SELECT DISTINCT actor_id, rkey FROM skua.changes_between($1::int8, $2::int8) WHERE kind = 1 AND collection_id = 1
),
{{judge}}

-- drain
WITH {{taken_posts}},
keys AS MATERIALIZED (SELECT DISTINCT actor_id, rkey FROM taken),
{{judge}}

-- publish
WITH stored AS (SELECT * FROM {former}), wanted AS (SELECT * FROM {next}),
{{append}}

-- differences
WITH keys AS MATERIALIZED (
  (SELECT actor_id, rkey FROM bsky.posts WHERE $1::int4 IS NULL
     OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, rkey FROM {post_rules} WHERE $1::int4 IS NULL
     OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
),
{{judged}},
stored AS MATERIALIZED (
  SELECT t.* FROM keys AS k
  CROSS JOIN LATERAL (SELECT {{columns}} FROM {post_rules} AS t WHERE t.actor_id = k.actor_id AND t.rkey = k.rkey OFFSET 0) AS t
)
(SELECT 'missing: ' || w::text FROM (TABLE wanted EXCEPT TABLE stored) AS w
UNION ALL
SELECT 'not wanted: ' || s::text FROM (TABLE stored EXCEPT TABLE wanted) AS s)
LIMIT 10
