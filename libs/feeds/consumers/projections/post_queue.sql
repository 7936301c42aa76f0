-- This file defines the queue of a projection for posts that are computed again because another record changed, such as the
-- replies of a thread after a change of its gate. A change puts one key into the queue, and each key is in the queue at most
-- once for each account. The account of a key is the author of the change. Accounts take turns, so that an account with many
-- changes does not delay the others.
--
-- PROJECTION is the name of the projection that includes this file. The projection defines the fragments
--   queue_with   common table expressions with the parameters $1 and $2 of a fold, and a comma; or nothing,
--   queue_keys   a SELECT of the keys that the changes of a batch cause: account, kind, actor_id, rkey, position of the change,
--   queue_posts  a SELECT of the posts (actor_id, rkey) of the key `q`,
-- and uses taken_posts in a drain that computes posts.

-- internal table: PROJECTION_queue
-- The table has the keys that wait.
pos int8 NOT NULL, rkey int8 NOT NULL, actor_id int8 NOT NULL, account int8 NOT NULL, kind int4 NOT NULL,
PRIMARY KEY (account, kind, actor_id, rkey)
-- index: (account, pos)
-- index: (pos)

-- internal table: PROJECTION_due
-- The table has the posts of the keys that were taken.
rkey int8 NOT NULL, actor_id int8 NOT NULL, account int8 NOT NULL, PRIMARY KEY (account, actor_id, rkey)

-- internal table: PROJECTION_turns
-- The table has the accounts that wait, by the time of their last turn.
served_at timestamptz NOT NULL DEFAULT clock_timestamp(), due_pos int8, account int8 NOT NULL PRIMARY KEY
-- index: (served_at)

-- fragment: turns
-- `turns` has the accounts with a turn in this batch. They stay the same until `taken_posts` ends the turn.
turns AS MATERIALIZED (SELECT account, served_at FROM {PROJECTION_turns} ORDER BY served_at, account LIMIT 200)

-- fragment: taken_posts
-- `taken` has the next posts (actor_id, rkey): at most 2,000 in all, and the same maximum for each account.
{{turns}},
with_posts AS MATERIALIZED (SELECT t.account FROM turns AS t WHERE EXISTS (SELECT 1 FROM {PROJECTION_due} AS d WHERE d.account = t.account)),
served AS (UPDATE {PROJECTION_turns} AS t SET served_at = clock_timestamp() FROM turns AS n WHERE t.account = n.account),
taken AS (
  DELETE FROM {PROJECTION_due} AS d USING (
    SELECT n.* FROM with_posts AS w CROSS JOIN LATERAL (SELECT * FROM {PROJECTION_due} AS d WHERE d.account = w.account
      ORDER BY d.actor_id, d.rkey LIMIT greatest(1, 2000 / (SELECT count(*) FROM with_posts))) AS n
  ) AS n
  WHERE d.account = n.account AND d.actor_id = n.actor_id AND d.rkey = n.rkey RETURNING d.actor_id, d.rkey
)

-- fold
-- Puts the keys of a batch into the queue.
WITH {{queue_with}}
queued AS (
  INSERT INTO {PROJECTION_queue} (account, kind, actor_id, rkey, pos)
  SELECT account, kind, actor_id, rkey, min(pos) FROM ({{queue_keys}}) AS k GROUP BY 1, 2, 3, 4
  ON CONFLICT (account, kind, actor_id, rkey) DO NOTHING RETURNING account
)
INSERT INTO {PROJECTION_turns} (account) SELECT DISTINCT account FROM queued ON CONFLICT (account) DO NOTHING

-- drain
-- Removes accounts without work, but only among the accounts whose turn comes next.
DELETE FROM {PROJECTION_turns} AS t USING (SELECT account FROM {PROJECTION_turns} ORDER BY served_at, account LIMIT 1000) AS n
WHERE t.account = n.account AND NOT EXISTS (SELECT 1 FROM {PROJECTION_queue} AS q WHERE q.account = t.account)
  AND NOT EXISTS (SELECT 1 FROM {PROJECTION_due} AS d WHERE d.account = t.account)

-- drain
-- Takes the oldest keys of accounts without due posts: first the first key of each account, then the second one, until the keys
-- have 2,000 posts. A key with 300 posts or more counts as 2,000 posts, so that at most one such key is taken and its posts
-- need not be counted.
WITH {{turns}},
waiting AS MATERIALIZED (SELECT t.* FROM turns AS t WHERE NOT EXISTS (SELECT 1 FROM {PROJECTION_due} AS d WHERE d.account = t.account)),
keys AS MATERIALIZED (
  SELECT w.served_at, q.*, row_number() OVER (PARTITION BY w.account ORDER BY q.pos, q.kind, q.actor_id, q.rkey) AS turn
  FROM waiting AS w CROSS JOIN LATERAL (SELECT * FROM {PROJECTION_queue} AS q WHERE q.account = w.account
    ORDER BY q.pos LIMIT greatest(1, 1000 / (SELECT count(*) FROM waiting))) AS q
),
sized AS MATERIALIZED (
  SELECT q.*, CASE WHEN p.count < 300 THEN p.count ELSE 2000 END AS size FROM keys AS q
  CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT 1 FROM ({{queue_posts}}) AS p LIMIT 300) AS p) AS p
),
chosen AS (
  SELECT s.*, sum(size) OVER (ORDER BY turn, served_at, account ROWS UNBOUNDED PRECEDING) - size AS before FROM sized AS s
),
taken AS (
  DELETE FROM {PROJECTION_queue} AS q USING chosen AS c WHERE c.before < 2000 AND q.account = c.account AND q.kind = c.kind
    AND q.actor_id = c.actor_id AND q.rkey = c.rkey RETURNING q.*
),
noted AS (
  UPDATE {PROJECTION_turns} AS t SET due_pos = o.pos FROM (SELECT account, min(pos) AS pos FROM taken GROUP BY 1) AS o
  WHERE t.account = o.account
)
INSERT INTO {PROJECTION_due} (account, actor_id, rkey)
SELECT DISTINCT q.account, p.actor_id, p.rkey FROM taken AS q CROSS JOIN LATERAL ({{queue_posts}}) AS p ORDER BY 1, 2, 3
ON CONFLICT (account, actor_id, rkey) DO NOTHING

-- fragment: queue_waiting
(SELECT min(pos) FROM {PROJECTION_queue}),
(SELECT min(t.due_pos) FROM {PROJECTION_turns} AS t WHERE EXISTS (SELECT 1 FROM {PROJECTION_due} AS d WHERE d.account = t.account))

-- waiting
SELECT least({{queue_waiting}}), EXISTS (SELECT 1 FROM {PROJECTION_due})
