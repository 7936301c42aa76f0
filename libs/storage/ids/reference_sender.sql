-- name: references_mentioned
-- The accounts of the first $1 lists.
SELECT m.seq, u.did
FROM (SELECT seq, dids FROM skua.mentioned_accounts ORDER BY seq LIMIT $1::int8) AS m
CROSS JOIN unnest(m.dids) AS u(did)
ORDER BY m.seq;

-- name: references_mentioned_sent
-- The accounts of $2 and $3, whose nodes did not take them, wait.
WITH sent AS (
  DELETE FROM skua.mentioned_accounts WHERE seq = ANY ($1::int8[])
)
INSERT INTO skua.waiting_references (account_group, text)
SELECT * FROM unnest($2::int4[], $3::text[]);

-- name: references_nodes
-- The nodes that own groups for which references wait.
SELECT n.name, n.url, array_to_string(n.owned, ',')
FROM skua.nodes AS n
WHERE EXISTS (
  SELECT 1
  FROM unnest(n.owned) AS g
  CROSS JOIN LATERAL (SELECT 1 FROM skua.waiting_references AS w WHERE w.account_group = g LIMIT 1) AS first)
ORDER BY n.name;

-- name: references_waiting
-- $2 is the number of references of each group.
SELECT w.account_group, w.seq, w.actor_id, w.rkey, coalesce(c.nsid, ''), w.text, w.distance::int4, w.reply_actor, w.reply_rkey, w.reply_at
FROM unnest(string_to_array($1, ',')::int4[]) AS g
CROSS JOIN LATERAL (
  SELECT * FROM skua.waiting_references AS w WHERE w.account_group = g ORDER BY w.seq LIMIT $2::int8) AS w
LEFT JOIN bsky.collections AS c ON c.id = w.collection_id
ORDER BY w.seq;

-- name: references_sent
DELETE FROM skua.waiting_references AS w
USING unnest($1::int4[], $2::int8[]) AS sent(account_group, seq)
WHERE w.account_group = sent.account_group AND w.seq = sent.seq;

-- name: references_last
SELECT coalesce(max(seq), 0) FROM skua.waiting_references;

-- name: references_mentioned_last
SELECT coalesce(max(seq), 0) FROM skua.mentioned_accounts;

-- name: references_left
-- The references up to the number $1 that wait, and the accounts of lists, of each node. Those of groups without a node have no
-- name.
SELECT coalesce(n.name, ''), coalesce(n.url, ''), count(*)
FROM (
  SELECT w.account_group FROM skua.waiting_references AS w WHERE w.seq <= $1::int8
  UNION ALL
  SELECT bsky.account_group(u.did) FROM skua.mentioned_accounts AS m CROSS JOIN unnest(m.dids) AS u(did) WHERE m.seq <= $2::int8
) AS w
LEFT JOIN skua.nodes AS n ON w.account_group = ANY (n.owned)
GROUP BY 1, 2
ORDER BY 1;

-- name: references_resend
-- Runs here, or on the other node.
SELECT skua.resend_references(string_to_array($1, ',')::int4[]);

-- name: references_receive_accounts
-- Runs on the other node. The program computes the numbers in less time than two hashes take in PostgreSQL.
INSERT INTO bsky.actors (id, did, indexed_at)
OVERRIDING SYSTEM VALUE
SELECT u.id, u.did, $3::timestamptz
FROM unnest($1::int8[], $2::text[]) AS u(id, did)
ON CONFLICT DO NOTHING;

-- name: references_receive_collections
INSERT INTO bsky.collections (id, nsid)
SELECT skua.new_collection_number(u.nsid), u.nsid
FROM unnest($1::text[]) AS u(nsid)
WHERE NOT EXISTS (SELECT 1 FROM bsky.collections AS c WHERE c.nsid = u.nsid)
ON CONFLICT DO NOTHING;

-- name: references_receive_texts
-- A key whose number has another text here, and a key of a collection without a number, are left out.
INSERT INTO bsky.rkeys (actor_id, collection_id, rkey, text)
SELECT k.actor_id, coalesce(c.id, 0), k.rkey, k.text
FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[]) AS k(actor_id, rkey, nsid, text)
LEFT JOIN bsky.collections AS c ON c.nsid = k.nsid
WHERE k.nsid = '' OR c.id IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: references_receive_replies
-- The projection notifications of the other node takes them.
WITH received AS (
  INSERT INTO skua.replies_below (post_actor, post_rkey, distance, actor_id, rkey, sort_at)
  SELECT * FROM unnest($1::int8[], $2::int8[], $3::int4[], $4::int8[], $5::int8[], $6::timestamptz[])
  ON CONFLICT DO NOTHING
  RETURNING 1
)
UPDATE skua.consumer_lanes AS l
SET waiting_pos = skua.change_log_end()
FROM skua.consumers AS c
WHERE c.id = l.consumer_id AND c.name = 'notifications' AND c.role <> 'retired' AND l.waiting_pos IS NULL AND EXISTS (SELECT 1 FROM received);
