-- fragment: blocks
-- b has the blocks with the positions from $1 to before $2.
WITH b AS MATERIALIZED (
  SELECT l.* FROM skua.change_log AS l
  WHERE l.pos < $2::int8
    AND l.pos >= coalesce(
      (SELECT m.pos FROM skua.change_log AS m WHERE m.pos <= $1::int8 ORDER BY m.pos DESC LIMIT 1), $1::int8)
)

-- name: change_feed_changes
-- Most keys and all revisions and CIDs are returned as numbers and hashes, which the program converts to text.
{{blocks}}
SELECT b.pos + c.place - 1, b.at, skua.change_kind(c.kind), (ARRAY['create', 'update', 'delete'])[c.op], a.did, k.nsid,
  CASE WHEN c.rkey < 0 THEN bsky.rkey_text(c.actor_id, c.collection_id, c.rkey) END, c.rev, c.cid, b.val[c.place],
  a.active, a.status, a.handle, a.handle_valid, c.actor_id, c.collection_id, c.rkey
FROM b
CROSS JOIN unnest(b.kind, b.op, b.actor_id, b.collection_id, b.rkey, b.rev, b.cid) WITH ORDINALITY
  AS c(kind, op, actor_id, collection_id, rkey, rev, cid, place)
LEFT JOIN bsky.actors AS a ON a.id = c.actor_id
LEFT JOIN bsky.collections AS k ON k.id = c.collection_id
WHERE b.pos + c.place - 1 >= $1::int8 AND b.pos + c.place - 1 < $2::int8
ORDER BY 1;

-- name: change_feed_references
{{blocks}}
SELECT b.pos + r.change, skua.reference_role(r.role), r.delta::int4,
  CASE WHEN r.actor_id = 0 THEN bsky.rkey_text(0, 0, r.rkey)
    WHEN r.collection_id = 0 THEN a.did
    ELSE bsky.uri(r.actor_id, r.collection_id, r.rkey)
  END
FROM b
CROSS JOIN unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, b.ref_rkey)
  AS r(change, role, delta, actor_id, collection_id, rkey)
LEFT JOIN bsky.actors AS a ON a.id = r.actor_id
WHERE b.pos + r.change >= $1::int8 AND b.pos + r.change < $2::int8
ORDER BY 1;

-- name: change_feed_labels
{{blocks}}
SELECT b.pos + c.place - 1,
  jsonb_strip_nulls(jsonb_build_object(
    'cts', bsky.time_text(l.cts), 'exp', bsky.time_text(l.exp), 'cid', bsky.cid_text(l.cid)
  ))::text
FROM b
CROSS JOIN unnest(b.kind, b.actor_id, b.val) WITH ORDINALITY AS c(kind, actor_id, val, place)
CROSS JOIN unnest(b.ref_change, b.ref_actor, b.ref_collection, b.ref_rkey) AS r(change, actor_id, collection_id, rkey)
JOIN bsky.labels AS l ON l.subject_actor = r.actor_id AND l.subject_collection = r.collection_id
  AND l.subject_rkey = r.rkey
WHERE c.kind = 4 AND r.change = c.place - 1 AND l.actor_id = c.actor_id AND l.val = c.val AND NOT l.neg
  AND b.pos + c.place - 1 >= $1::int8 AND b.pos + c.place - 1 < $2::int8;

-- name: change_feed_messages
-- The messages of a page have a size limit; the first one is always returned.
SELECT m.pos, m.id, m.key, m.enqueued_at, m.payload::text, m.headers::text, m.bytes
FROM (
  SELECT t.*, sum(t.bytes) OVER (ORDER BY t.pos) - t.bytes AS bytes_before
  FROM skua.messages AS t
  WHERE t.pos = ANY($1::int8[])
) AS m
WHERE m.bytes_before < $2::int8
ORDER BY m.pos;

-- name: change_feed_state
-- The statement does not call skua.change_log_end(), because this function reads a partition directly, and skua_reader may not.
SELECT s.timeline, (SELECT l.pos FROM skua.change_log AS l ORDER BY l.pos LIMIT 1),
  (SELECT l.pos + l.n FROM skua.change_log AS l ORDER BY l.pos DESC LIMIT 1)
FROM skua.change_log_state AS s;

-- name: change_feed_block_at
SELECT l.pos, l.pos + l.n, l.at
FROM skua.change_log AS l
WHERE l.pos <= $1::int8
ORDER BY l.pos DESC
LIMIT 1;

-- name: change_feed_records
-- The texts of a page have a size limit; the first text is always returned.
SELECT r.place::int4, r.cid, CASE WHEN r.total - octet_length(r.text) < $4::int8 THEN r.text END
FROM (
  SELECT t.place, t.cid, t.text, sum(octet_length(t.text)) OVER (ORDER BY t.place) AS total
  FROM (
    SELECT j.place, j.cid, j.record::text AS text
    FROM bsky.record_json($1::int8[], $2::int4[], $3::int8[]) AS j
  ) AS t
) AS r
ORDER BY 1;
