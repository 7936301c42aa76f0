-- bsky.notifications_view leaves out notifications about deleted posts, and notifications of deleted accounts.

-- The condition on the post is a subquery for each row, which looks up the primary key. As NOT EXISTS it could become a
-- join that reads all posts.
CREATE OR REPLACE VIEW bsky.notifications_view AS
SELECT r.did AS recipient_did,
       r.handle AS recipient_handle,
       (ARRAY['like', 'like-via-repost', 'repost', 'repost-via-repost', 'follow', 'mention', 'quote', 'reply'])[t.reason] AS reason,
       a.did,
       a.handle,
       bsky.uri(t.actor_id, t.collection_id, t.rkey) AS uri,
       bsky.uri(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       t.sort_at,
       t.recipient,
       t.actor_id,
       t.collection_id,
       t.rkey,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey
FROM bsky.notifications t
JOIN bsky.actors a ON a.id = t.actor_id
JOIN bsky.actors r ON r.id = t.recipient
WHERE a.active IS NOT FALSE
  AND r.status IS DISTINCT FROM 'deleted'
  AND (SELECT p.is_deleted FROM bsky.posts p
       WHERE t.subject_collection = 1 AND p.actor_id = t.subject_actor AND p.rkey = t.subject_rkey) IS NOT TRUE;
COMMENT ON VIEW bsky.notifications_view IS 'Notifications by active accounts, without those about deleted posts. For the newest of an account: WHERE recipient = bsky.actor_id(...) ORDER BY sort_at DESC.';
