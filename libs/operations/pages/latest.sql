-- name: latest_posts
-- The statement needs the index; without it the statement would sort the table.
SELECT p.sort_at, coalesce(a.handle, a.did), left(p.text, 300),
  'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey)
FROM (
  SELECT t.actor_id, t.rkey, t.text, least(t.created_at, t.indexed_at) AS sort_at
  FROM bsky.posts AS t
  WHERE t.cid IS NOT NULL AND NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)
  ORDER BY least(t.created_at, t.indexed_at) DESC
  LIMIT 12
) AS p
JOIN bsky.actors AS a ON a.id = p.actor_id
WHERE a.active IS NOT FALSE
ORDER BY p.sort_at DESC;

-- name: latest_letters
-- The statement reads only the newest letters, by an index, because the table may be large.
SELECT l.id, l.last_at, l.did, l.origin, l.status, l.error
FROM (
  SELECT d.id, d.last_at, d.did,
    CASE WHEN d.pos IS NULL THEN coalesce(d.source, '') ELSE d.consumer END AS origin, d.status, d.error
  FROM skua.dead_letter AS d
  ORDER BY d.id DESC
  LIMIT 1000
) AS l
WHERE l.status IN ('dead', 'requested', 'replaying')
ORDER BY l.last_at DESC, l.id DESC
LIMIT 20;
