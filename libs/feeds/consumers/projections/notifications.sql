-- projection: notifications
-- version: 8
-- help: Notifications of likes, reposts, follows, mentions, quotes, replies, verifications and starter packs
-- depends on: post_rules

-- A post notifies a recipient at most once, and a record never its own author. The result follows from the tables and not from
-- the order of the changes: `wanted` has the notifications of the records in `keys`, and a fold makes the table equal to
-- `wanted` for each record that a batch concerns. There is one lane, because a fold also changes the notifications of the
-- records of other accounts.
--
-- A node has no posts of other nodes, and does not know whether they were removed or hide a reply. Its rows are those that may notify, and
-- the query database decides which of them do (skua.join_notifications). A node that stores a reply tells it to the node of the parent
-- (skua.replies_below). That node knows the post above the parent: it has the notification of its author, and tells the reply to the
-- node of that post, up to the distance of 3.
--
-- The exception are verifications that were removed. Their notifications stay, and the removal notifies too. A new build takes
-- both from the former table.

-- table: notifications
-- New records have the largest keys, so an index whose first column is the key stores neighbours next to each other.
sort_at timestamptz NOT NULL, rkey int8 NOT NULL, subject_rkey int8, recipient int8 NOT NULL, actor_id int8 NOT NULL,
collection_id int4 NOT NULL, reason int4 NOT NULL, subject_actor int8, subject_collection int4,
PRIMARY KEY (rkey, actor_id, collection_id, reason, recipient)
-- index: (recipient, sort_at)

-- view
SELECT skua.declare_projection('notifications', 'recipient int8, actor_id int8, collection_id int4, rkey int8, reason int4,
  subject_actor int8, subject_collection int4, subject_rkey int8, sort_at timestamptz');
COMMENT ON VIEW bsky.notifications IS 'Notifications: a record never notifies its own author, and a post notifies a recipient at most once. Empty until `skua consumers add notifications` has built it. bsky.notifications_view has names in place of numbers.';
COMMENT ON COLUMN bsky.notifications.recipient IS 'The number of the notified account (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications.actor_id IS 'The number of the author of the record (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications.reason IS '1: like. 2: like of a post that the recipient reposted. 3: repost. 4: repost of a post that the recipient reposted. 5: follow. 6: mention. 7: quote. 8: reply to a post of the recipient, at most four posts above. 9: verification of the recipient. 10: removal of a verification of the recipient. 11: an account that joined with a starter pack of the recipient.';
COMMENT ON COLUMN bsky.notifications.subject_actor IS 'The account of the subject (bsky.actors.id): the record of the recipient that the notification is about. Null for a follow, a mention and a verification.';
COMMENT ON COLUMN bsky.notifications.subject_collection IS 'The collection of the subject (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications.subject_rkey IS 'The record key of the subject, as a number.';
COMMENT ON COLUMN bsky.notifications.sort_at IS 'The earlier of the times at which the record was created and indexed; of a removal its time.';

-- include: post_queue

-- fragment: takes_replies
-- While the projection is built again, only the new tables take the replies that were told: they will replace the others.
(SELECT skua.is_node() AND max(c.id) = split_part('{notifications}', 'notifications_', 2)::int4 FROM skua.consumers AS c
  WHERE c.name = 'notifications' AND c.role <> 'retired')

-- waiting
SELECT least({{queue_waiting}},
  CASE WHEN {{takes_replies}} AND EXISTS (SELECT 1 FROM skua.replies_below AS b WHERE b.is_new) THEN skua.change_log_end() END),
  EXISTS (SELECT 1 FROM {notifications_due})

-- Posts that a batch concerns indirectly wait in the queue. These are the posts up to four levels below a post that was added
-- or removed, and a post whose rules changed, with the posts below it. An update that makes a record valid or invalid also adds
-- or removes a post: it then changes the number of posts (role 9). The rules of all replies of a thread can change at once and
-- repeatedly. Their key in the queue therefore has the account of the thread or, without a thread, that of the quoted post.

-- fragment: queue_with
changed AS MATERIALIZED (
  SELECT * FROM skua.changes_between($1::int8, $2::int8) WHERE kind IN (1, 6) AND collection_id = 1
),
refs AS MATERIALIZED (SELECT * FROM skua.references_between($1::int8, $2::int8) WHERE role IN (3, 9)),

-- fragment: queue_keys
SELECT coalesce(p.root_actor, p.quote_actor, c.actor_id) AS account, 1 AS kind, c.actor_id, c.rkey, c.pos
FROM changed AS c LEFT JOIN LATERAL (SELECT p.root_actor, p.quote_actor FROM bsky.posts AS p
  WHERE p.actor_id = c.actor_id AND p.rkey = c.rkey OFFSET 0) AS p ON true
WHERE c.kind = 6
UNION ALL
SELECT c.actor_id, 1, c.actor_id, c.rkey, c.pos FROM changed AS c
WHERE c.kind = 1 AND (c.op <> 2 OR c.pos IN (SELECT r.pos FROM refs AS r))
  AND (EXISTS (SELECT 1 FROM bsky.posts AS p WHERE p.parent_actor = c.actor_id AND p.parent_rkey = c.rkey)
    OR (SELECT skua.is_node()) AND EXISTS (SELECT 1 FROM skua.replies_below AS b WHERE b.post_actor = c.actor_id AND b.post_rkey = c.rkey))

-- fragment: queue_posts
WITH RECURSIVE below (actor_id, rkey, depth) AS (
  SELECT q.actor_id, q.rkey, 0
  UNION
  SELECT p.actor_id, p.rkey, b.depth + 1 FROM below AS b
  CROSS JOIN LATERAL (SELECT p.actor_id, p.rkey FROM bsky.posts AS p
    WHERE p.parent_actor = b.actor_id AND p.parent_rkey = b.rkey OFFSET 0) AS p
  WHERE b.depth < 4
)
SELECT b.actor_id, b.rkey FROM below AS b
UNION
SELECT b.actor_id, b.rkey FROM skua.replies_below AS b
WHERE (SELECT skua.is_node()) AND b.post_actor = q.actor_id AND b.post_rkey = q.rkey

-- fragment: columns
recipient, actor_id, collection_id, rkey, reason, subject_actor, subject_collection, subject_rkey, sort_at

-- fragment: wanted
-- The first 100 records of an account and subject are compared. A larger number is abuse.
posts AS MATERIALIZED (
  SELECT p.*, least(p.created_at, p.indexed_at) AS sort_at, coalesce(r.violates_threadgate, false) AS violates_threadgate,
    coalesce(r.violates_embedding_rules, false) AS violates_embedding_rules
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT p.actor_id, p.rkey, p.mentions, p.quote_actor, p.quote_collection, p.quote_rkey, p.parent_actor,
    p.parent_rkey, p.created_at, p.indexed_at
    FROM bsky.posts AS p WHERE p.actor_id = k.actor_id AND p.rkey = k.rkey AND p.cid IS NOT NULL OFFSET 0) AS p
  LEFT JOIN LATERAL (SELECT * FROM bsky.post_rules AS r WHERE r.actor_id = k.actor_id AND r.rkey = k.rkey OFFSET 0) AS r
    ON true
  WHERE k.collection_id = 1
),
above (actor_id, rkey, sort_at, height, ancestor, ancestor_rkey, next_actor, next_rkey) AS (
  SELECT p.actor_id, p.rkey, p.sort_at, 1, p.parent_actor, p.parent_rkey, a.parent_actor, a.parent_rkey FROM posts AS p
  LEFT JOIN LATERAL (SELECT * FROM bsky.posts AS a
    WHERE a.actor_id = p.parent_actor AND a.rkey = p.parent_rkey AND a.cid IS NOT NULL OFFSET 0) AS a ON true
  WHERE p.parent_actor IS NOT NULL AND NOT p.violates_threadgate AND (a.actor_id IS NOT NULL OR (SELECT skua.is_node()))
  UNION ALL
  SELECT x.actor_id, x.rkey, x.sort_at, x.height + 1, a.actor_id, a.rkey, a.parent_actor, a.parent_rkey FROM above AS x
  CROSS JOIN LATERAL (SELECT * FROM bsky.posts AS a
    WHERE a.actor_id = x.next_actor AND a.rkey = x.next_rkey AND a.cid IS NOT NULL OFFSET 0) AS a
  WHERE x.height < 4 AND NOT (SELECT skua.is_node()) AND NOT EXISTS (SELECT 1 FROM bsky.post_rules AS r
    WHERE r.actor_id = x.ancestor AND r.rkey = x.ancestor_rkey AND r.is_hidden)
),
-- On a node, the replies below own posts that are replies themselves.
chains AS MATERIALIZED (
  SELECT b.actor_id, b.rkey, b.sort_at, b.distance, p.parent_actor, p.parent_rkey
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM skua.replies_below AS b WHERE b.actor_id = k.actor_id AND b.rkey = k.rkey OFFSET 0) AS b
  CROSS JOIN LATERAL (SELECT p.parent_actor, p.parent_rkey FROM bsky.posts AS p WHERE p.actor_id = b.post_actor AND p.rkey = b.post_rkey
    AND p.cid IS NOT NULL AND p.parent_actor IS NOT NULL OFFSET 0) AS p
  WHERE k.collection_id = 1 AND (SELECT skua.is_node())
),
found AS (
  SELECT r.recipient, l.actor_id, 2 AS collection_id, l.rkey, r.reason, r.subject_actor, r.subject_collection,
    r.subject_rkey, least(l.created_at, l.indexed_at) AS sort_at, r.reason AS rank
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM bsky.likes AS l WHERE l.actor_id = k.actor_id AND l.rkey = k.rkey OFFSET 0) AS l
  CROSS JOIN LATERAL (VALUES (l.subject_actor, 1, l.subject_actor, l.subject_collection, l.subject_rkey),
    (l.via_actor, 2, l.via_actor, 3, l.via_rkey)) AS r(recipient, reason, subject_actor, subject_collection, subject_rkey)
  -- A like or repost of an own record notifies nobody.
  WHERE k.collection_id = 2 AND l.subject_actor IS DISTINCT FROM l.actor_id AND (k.is_new OR NOT EXISTS (SELECT 1 FROM (SELECT o.rkey FROM bsky.likes AS o
    WHERE o.subject_actor = l.subject_actor AND o.subject_rkey = l.subject_rkey AND o.actor_id = l.actor_id
      AND o.subject_collection = l.subject_collection LIMIT 100) AS o WHERE o.rkey < l.rkey))
  UNION ALL
  SELECT r.recipient, l.actor_id, 3, l.rkey, r.reason, r.subject_actor, r.subject_collection, r.subject_rkey,
    least(l.created_at, l.indexed_at), r.reason
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM bsky.reposts AS l WHERE l.actor_id = k.actor_id AND l.rkey = k.rkey OFFSET 0) AS l
  CROSS JOIN LATERAL (VALUES (l.subject_actor, 3, l.subject_actor, l.subject_collection, l.subject_rkey),
    (l.via_actor, 4, l.via_actor, 3, l.via_rkey)) AS r(recipient, reason, subject_actor, subject_collection, subject_rkey)
  WHERE k.collection_id = 3 AND l.subject_actor IS DISTINCT FROM l.actor_id AND (k.is_new OR NOT EXISTS (SELECT 1 FROM (SELECT o.rkey FROM bsky.reposts AS o
    WHERE o.subject_actor = l.subject_actor AND o.subject_rkey = l.subject_rkey AND o.actor_id = l.actor_id
      AND o.subject_collection = l.subject_collection LIMIT 100) AS o WHERE o.rkey < l.rkey))
  UNION ALL
  SELECT f.subject_actor, f.actor_id, 7, f.rkey, 5, NULL, NULL, NULL, least(f.created_at, f.indexed_at), 5
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM bsky.follows AS f WHERE f.actor_id = k.actor_id AND f.rkey = k.rkey OFFSET 0) AS f
  WHERE k.collection_id = 7 AND (k.is_new OR NOT EXISTS (SELECT 1 FROM (SELECT o.rkey FROM bsky.follows AS o
    WHERE o.subject_actor = f.subject_actor AND o.actor_id = f.actor_id LIMIT 100) AS o WHERE o.rkey < f.rkey))
  UNION ALL
  SELECT m.id, p.actor_id, 1, p.rkey, 6, NULL, NULL, NULL, p.sort_at, 0
  FROM posts AS p CROSS JOIN LATERAL unnest(p.mentions) AS m(id)
  UNION ALL
  SELECT p.quote_actor, p.actor_id, 1, p.rkey, 7, p.quote_actor, p.quote_collection, p.quote_rkey, p.sort_at, 1
  FROM posts AS p WHERE p.quote_collection = 1 AND NOT p.violates_embedding_rules
  UNION ALL
  SELECT x.ancestor, x.actor_id, 1, x.rkey, 8, x.ancestor, 1, x.ancestor_rkey, x.sort_at, 1 + x.height FROM above AS x
  UNION ALL
  SELECT c.parent_actor, c.actor_id, 1, c.rkey, 8, c.parent_actor, 1, c.parent_rkey, c.sort_at, 2 + c.distance FROM chains AS c
  UNION ALL
  SELECT v.subject_actor, v.actor_id, 13, v.rkey, 9, NULL, NULL, NULL, least(v.created_at, v.indexed_at), 9
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM bsky.verifications AS v WHERE v.actor_id = k.actor_id AND v.rkey = k.rkey OFFSET 0) AS v
  WHERE k.collection_id = 13 AND NOT EXISTS (SELECT 1 FROM (SELECT o.rkey FROM bsky.verifications AS o
    WHERE o.subject_actor = v.subject_actor AND o.actor_id = v.actor_id LIMIT 100) AS o WHERE o.rkey < v.rkey)
  UNION ALL
  SELECT p.joined_via_actor, p.actor_id, 14, p.rkey, 11, p.joined_via_actor, 12, p.joined_via_rkey,
    least(p.created_at, p.indexed_at), 11
  FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM bsky.profiles AS p WHERE p.actor_id = k.actor_id AND p.rkey = k.rkey OFFSET 0) AS p
  WHERE k.collection_id = 14
),
wanted AS MATERIALIZED (
  SELECT DISTINCT ON (rkey, actor_id, collection_id, recipient, CASE WHEN collection_id <> 1 THEN reason END)
    recipient, actor_id, collection_id, rkey, reason, subject_actor, subject_collection, subject_rkey, sort_at
  FROM found WHERE recipient IS NOT NULL AND recipient <> actor_id
  ORDER BY rkey, actor_id, collection_id, recipient, CASE WHEN collection_id <> 1 THEN reason END, rank
)

-- fragment: told
-- On a node, tells replies to the nodes of the posts above, also to itself. A repetition changes nothing.
told AS MATERIALIZED (
  SELECT p.parent_actor AS post_actor, p.parent_rkey AS post_rkey, 1 AS distance, p.actor_id, p.rkey, p.sort_at
  FROM posts AS p WHERE p.parent_actor IS NOT NULL AND (SELECT skua.is_node())
  UNION ALL
  SELECT c.parent_actor, c.parent_rkey, c.distance + 1, c.actor_id, c.rkey, c.sort_at FROM chains AS c WHERE c.distance < 3
),
sent AS (
  INSERT INTO skua.waiting_references (account_group, actor_id, rkey, text, distance, reply_actor, reply_rkey, reply_at)
  SELECT t.post_actor >> 57, t.post_actor, t.post_rkey, '', t.distance, t.actor_id, t.rkey, t.sort_at FROM told AS t
)

-- fragment: is_kept
-- The notifications about a removed verification stay: the rows `t`.
t.collection_id = 13 AND (t.reason = 10 OR NOT EXISTS (
  SELECT 1 FROM bsky.verifications AS v WHERE v.actor_id = t.actor_id AND v.rkey = t.rkey))

-- fragment: compute
{{wanted}},
{{told}},
stored AS MATERIALIZED (
  SELECT t.actor_id, t.collection_id, t.rkey, t.reason, t.recipient FROM keys AS k
  CROSS JOIN LATERAL (SELECT * FROM {notifications} AS t
    WHERE t.actor_id = k.actor_id AND t.collection_id = k.collection_id AND t.rkey = k.rkey AND NOT ({{is_kept}}) OFFSET 0) AS t
  WHERE NOT k.is_new
),
removed AS (
  DELETE FROM {notifications} AS t USING (
    SELECT * FROM stored EXCEPT SELECT actor_id, collection_id, rkey, reason, recipient FROM wanted
  ) AS old
  WHERE t.actor_id = old.actor_id AND t.collection_id = old.collection_id AND t.rkey = old.rkey
    AND t.reason = old.reason AND t.recipient = old.recipient
)
INSERT INTO {notifications} AS t ({{columns}}) SELECT {{columns}} FROM wanted
ON CONFLICT (rkey, actor_id, collection_id, reason, recipient) DO UPDATE SET
  subject_actor = EXCLUDED.subject_actor, subject_collection = EXCLUDED.subject_collection,
  subject_rkey = EXCLUDED.subject_rkey, sort_at = EXCLUDED.sort_at
WHERE (t.subject_actor, t.subject_collection, t.subject_rkey, t.sort_at) IS DISTINCT FROM
  (EXCLUDED.subject_actor, EXCLUDED.subject_collection, EXCLUDED.subject_rkey, EXCLUDED.sort_at)

-- fill
WITH RECURSIVE keys AS (
  SELECT actor_id, 2 AS collection_id, rkey, false AS is_new FROM bsky.likes
  UNION ALL
  SELECT actor_id, 3, rkey, false FROM bsky.reposts
  UNION ALL
  SELECT actor_id, 7, rkey, false FROM bsky.follows
  UNION ALL
  SELECT actor_id, 13, rkey, false FROM bsky.verifications
  UNION ALL
  SELECT actor_id, 14, rkey, false FROM bsky.profiles WHERE joined_via_actor IS NOT NULL
  UNION ALL
  SELECT actor_id, 1, rkey, false FROM bsky.posts WHERE cid IS NOT NULL
  UNION ALL
  SELECT DISTINCT actor_id, 1, rkey, false FROM skua.replies_below AS b
  WHERE NOT EXISTS (SELECT 1 FROM bsky.posts AS p WHERE p.actor_id = b.actor_id AND p.rkey = b.rkey AND p.cid IS NOT NULL)
),
{{wanted}},
{{told}}
INSERT INTO {notifications} ({{columns}}) SELECT {{columns}} FROM wanted
UNION ALL
SELECT {{columns}} FROM bsky.notifications AS t WHERE {{is_kept}}

-- fold
-- Notifies of removed verifications. This comes first, because the next statement compares with the stored rows.
WITH gone AS MATERIALIZED (
  SELECT c.actor_id, c.rkey, max(c.pos) AS pos FROM skua.changes_between($1::int8, $2::int8) AS c
  WHERE c.kind = 1 AND c.collection_id = 13 AND c.op <> 1 GROUP BY 1, 2
)
INSERT INTO {notifications} ({{columns}})
SELECT t.recipient, t.actor_id, 13, t.rkey, 10, NULL, NULL, NULL,
  (SELECT l.at FROM skua.change_log AS l WHERE l.pos <= g.pos ORDER BY l.pos DESC LIMIT 1)
FROM gone AS g
CROSS JOIN LATERAL (SELECT * FROM {notifications} AS t
  WHERE t.actor_id = g.actor_id AND t.collection_id = 13 AND t.rkey = g.rkey AND t.reason = 9 OFFSET 0) AS t
WHERE NOT EXISTS (SELECT 1 FROM bsky.verifications AS v WHERE v.actor_id = g.actor_id AND v.rkey = g.rkey)
ON CONFLICT (rkey, actor_id, collection_id, reason, recipient) DO NOTHING

-- fold
-- `keys` has the records that a batch concerns: the records that changed, and the likes, reposts, follows and verifications with
-- the same account and subject as a changed record. Of the latter only the first record notifies. The log does not name the
-- subject of a verification: it is in the table, or in the notification of a removed record. Subqueries that look up a table are
-- LATERAL with OFFSET 0, because the planner then uses the index of the table.
--
-- `is_new` says that the batch creates the record and does not concern it in another way. Such a record has no notifications to
-- remove, and is the first one of its account and subject. If one transaction creates several records of an account and
-- subject, any of them can have the delta 1. The references therefore begin with the first block, a part of which may belong to
-- the last batch. A batch of one change may be the replay of an old change after later ones, so `is_new` is false in such a
-- batch.
WITH RECURSIVE changed AS MATERIALIZED (
  SELECT * FROM skua.changes_between($1::int8, $2::int8) WHERE kind = 1 AND collection_id IN (1, 2, 3, 7, 13, 14)
),
refs AS MATERIALIZED (
  SELECT r.* FROM (SELECT coalesce(max(b.pos), $1::int8) AS pos FROM skua.change_log AS b WHERE b.pos <= $1::int8) AS b
  CROSS JOIN LATERAL skua.references_between(b.pos, $2::int8) AS r WHERE r.delta = 0 AND r.role IN (1, 2, 3, 5)
),
keys AS MATERIALIZED (
  SELECT actor_id, collection_id, rkey, count(*) = 1 AND bool_and(is_new) AS is_new FROM (
    SELECT actor_id, collection_id, rkey, op = 1 AND $2::int8 - $1::int8 > 1 AND collection_id <> 13
      AND pos NOT IN (SELECT r.pos FROM refs AS r) AS is_new FROM changed
    UNION ALL
    SELECT c.actor_id, 13, o.rkey, false FROM changed AS c
    CROSS JOIN LATERAL (
      SELECT v.subject_actor FROM bsky.verifications AS v WHERE v.actor_id = c.actor_id AND v.rkey = c.rkey
      UNION
      SELECT t.recipient FROM {notifications} AS t
      WHERE t.actor_id = c.actor_id AND t.collection_id = 13 AND t.rkey = c.rkey
    ) AS s(subject_actor)
    CROSS JOIN LATERAL (SELECT v.rkey FROM bsky.verifications AS v
      WHERE v.subject_actor = s.subject_actor AND v.actor_id = c.actor_id LIMIT 100) AS o
    WHERE c.collection_id = 13
    UNION ALL
    SELECT r.author, s.collection_id, s.rkey, false FROM refs AS r
    CROSS JOIN LATERAL (
      (SELECT 2 AS collection_id, t.rkey FROM bsky.likes AS t WHERE r.role = 1 AND t.subject_actor = r.actor_id
         AND t.subject_rkey = r.rkey AND t.actor_id = r.author LIMIT 100)
      UNION ALL
      (SELECT 3, t.rkey FROM bsky.reposts AS t WHERE r.role = 2 AND t.subject_actor = r.actor_id
         AND t.subject_rkey = r.rkey AND t.actor_id = r.author LIMIT 100)
      UNION ALL
      (SELECT 7, t.rkey FROM bsky.follows AS t WHERE r.role = 5 AND t.subject_actor = r.actor_id
         AND t.actor_id = r.author LIMIT 100)
    ) AS s
  ) AS k GROUP BY actor_id, collection_id, rkey
),
{{compute}}

-- drain
WITH RECURSIVE {{taken_posts}},
keys AS MATERIALIZED (SELECT DISTINCT actor_id, 1 AS collection_id, rkey, false AS is_new FROM taken),
{{compute}}

-- drain
-- On a node, takes replies that were told since. The authors take turns.
WITH RECURSIVE told_to AS MATERIALIZED (
  SELECT n.post_actor, n.post_rkey, n.actor_id, n.rkey FROM (
    SELECT b.*, row_number() OVER (PARTITION BY b.actor_id) AS turn
    FROM (SELECT * FROM skua.replies_below AS b WHERE b.is_new AND {{takes_replies}} LIMIT 20000) AS b
  ) AS n ORDER BY n.turn LIMIT 2000
),
taken AS (
  UPDATE skua.replies_below AS b SET is_new = false FROM told_to AS n
  WHERE b.post_actor = n.post_actor AND b.post_rkey = n.post_rkey AND b.actor_id = n.actor_id AND b.rkey = n.rkey
),
keys AS MATERIALIZED (SELECT DISTINCT actor_id, 1 AS collection_id, rkey, false AS is_new FROM told_to),
{{compute}}

-- differences
-- Compares the notifications of some records. The selection begins at a random account.
WITH RECURSIVE keys AS MATERIALIZED (
  (SELECT actor_id, 1 AS collection_id, rkey, false AS is_new FROM bsky.posts
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, 2 AS collection_id, rkey, false AS is_new FROM bsky.likes
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, 3 AS collection_id, rkey, false AS is_new FROM bsky.reposts
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, 7 AS collection_id, rkey, false AS is_new FROM bsky.follows
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, 13 AS collection_id, rkey, false AS is_new FROM bsky.verifications
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, 14 AS collection_id, rkey, false AS is_new FROM bsky.profiles
   -- The key of a profile is negative.
   WHERE $1::int4 IS NULL OR actor_id >= (SELECT skua.random_account_number())
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, 1, rkey, false FROM skua.replies_below
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, collection_id, rkey, false FROM {notifications}
   WHERE $1::int4 IS NULL OR recipient >= (SELECT skua.random_account_number())
   ORDER BY recipient, sort_at LIMIT $1::int4)
),
{{wanted}},
stored AS MATERIALIZED (
  SELECT t.* FROM keys AS k
  CROSS JOIN LATERAL (SELECT {{columns}} FROM {notifications} AS t
    WHERE t.actor_id = k.actor_id AND t.collection_id = k.collection_id AND t.rkey = k.rkey AND NOT ({{is_kept}}) OFFSET 0) AS t
)
(SELECT 'missing: ' || w::text FROM (TABLE wanted EXCEPT TABLE stored) AS w
UNION ALL
SELECT 'not wanted: ' || s::text FROM (TABLE stored EXCEPT TABLE wanted) AS s)
LIMIT 10
