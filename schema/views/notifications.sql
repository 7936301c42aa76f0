-- The view of notifications, with names in place of numbers.

-- The condition on the post is a subquery for each row, which looks up the primary key. With NOT EXISTS PostgreSQL could
-- plan a join that reads all posts.
CREATE OR REPLACE VIEW bsky.notifications_view AS
SELECT r.did AS recipient_did,
       r.handle AS recipient_handle,
       (ARRAY['like', 'like-via-repost', 'repost', 'repost-via-repost', 'follow', 'mention', 'quote', 'reply', 'verified',
         'unverified', 'starterpack-joined'])[t.reason] AS reason,
       a.did, a.handle,
       bsky.uri(t.actor_id, t.collection_id, t.rkey) AS uri,
       bsky.uri(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       t.sort_at, t.recipient, t.actor_id, t.collection_id, t.rkey, t.subject_actor, t.subject_collection,
       t.subject_rkey,
       coalesce(r.handle, r.did) AS recipient_name,
       coalesce(a.handle, a.did) AS name
FROM bsky.notifications t
JOIN bsky.actors a ON a.id = t.actor_id
JOIN bsky.actors r ON r.id = t.recipient
WHERE a.active IS NOT FALSE
  AND r.status IS DISTINCT FROM 'deleted'
  AND (SELECT p.is_deleted FROM bsky.posts p
       WHERE t.subject_collection = 1 AND p.actor_id = t.subject_actor AND p.rkey = t.subject_rkey) IS NOT TRUE
  AND (t.reason NOT IN (9, 10)
       OR EXISTS (SELECT FROM skua.trusted_accounts v WHERE v.role = 'verifier' AND v.did = a.did));
COMMENT ON VIEW bsky.notifications_view IS 'Notifications by active accounts, without those about deleted posts, those to deleted accounts, and verifications by accounts that are no trusted verifiers (skua.trusted_accounts). bsky.notifications_of returns those of one account.';
COMMENT ON COLUMN bsky.notifications_view.recipient_did IS 'The DID of the notified account.';
COMMENT ON COLUMN bsky.notifications_view.recipient_handle IS 'The handle of the notified account; null if it is not known.';
COMMENT ON COLUMN bsky.notifications_view.reason IS 'like, repost, follow, mention, quote, reply, verified, unverified or starterpack-joined; like-via-repost and repost-via-repost: of a post that the recipient reposted.';
COMMENT ON COLUMN bsky.notifications_view.did IS 'The DID of the author of the record.';
COMMENT ON COLUMN bsky.notifications_view.handle IS 'The handle of the author; null if it is not known.';
COMMENT ON COLUMN bsky.notifications_view.uri IS 'The AT-URI of the record.';
COMMENT ON COLUMN bsky.notifications_view.subject_uri IS 'The AT-URI of the subject: the record of the recipient that the notification is about. Null for a follow, a mention and a verification.';
COMMENT ON COLUMN bsky.notifications_view.sort_at IS 'The earlier of the times at which the record was created and indexed.';
COMMENT ON COLUMN bsky.notifications_view.recipient IS 'The number of the notified account (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications_view.actor_id IS 'The number of the author of the record (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications_view.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications_view.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications_view.subject_actor IS 'The account of the subject (bsky.actors.id): the record of the recipient that the notification is about. Null for a follow, a mention and a verification.';
COMMENT ON COLUMN bsky.notifications_view.subject_collection IS 'The collection of the subject (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications_view.subject_rkey IS 'The record key of the subject, as a number.';
COMMENT ON COLUMN bsky.notifications_view.recipient_name IS 'The handle of the notified account, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.notifications_view.name IS 'The handle of the author, or its DID if it has no handle.';
