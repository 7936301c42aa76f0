-- Questions about an account. PostgreSQL replaces calls of these functions by their queries: a LIMIT ends the reading, and
-- columns that the query does not select are not computed.

CREATE OR REPLACE FUNCTION bsky.followers_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.follow_pairs p
  WHERE p.subject_actor = (SELECT bsky.actor_id(account))
$$;
COMMENT ON FUNCTION bsky.followers_of(text) IS 'The active accounts that follow an account, each once, with the follow (uri) and its time (sort_at). The account is a DID, a handle or a bsky.app URL.';

CREATE OR REPLACE FUNCTION bsky.follows_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.subject_name, p.subject_did, p.uri, p.sort_at, p.subject_actor, p.rkey FROM bsky.follow_pairs p
  WHERE p.actor_id = (SELECT bsky.actor_id(account))
$$;
COMMENT ON FUNCTION bsky.follows_of(text) IS 'The active accounts that an account follows, each once, with the follow (uri, rkey) and its time (sort_at). actor_id is the followed account. The account is a DID, a handle or a bsky.app URL.';

CREATE OR REPLACE FUNCTION bsky.mutuals_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.follow_pairs p
  WHERE p.subject_actor = (SELECT bsky.actor_id(account))
    -- With IS TRUE PostgreSQL uses a hash table. A join could compare each pair.
    AND (p.actor_id IN (SELECT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account)))) IS TRUE
$$;
COMMENT ON FUNCTION bsky.mutuals_of(text) IS 'The active accounts that follow an account and that it follows, each once, with their follow (uri) and its time (sort_at). The account is a DID, a handle or a bsky.app URL.';

CREATE OR REPLACE FUNCTION bsky.notifications_of(account text, viewer text DEFAULT NULL, before timestamptz DEFAULT NULL)
RETURNS SETOF bsky.notifications_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT n.* FROM bsky.notifications_view n
  WHERE n.recipient = (SELECT bsky.actor_id(account))
    AND (before IS NULL OR n.sort_at < before)
    AND (viewer IS NULL OR NOT (
      bsky.is_hidden_from((SELECT bsky.actor_id(viewer)), n.actor_id, n.collection_id, n.rkey)
      OR (n.reason = 'reply' AND bsky.hides_reply((SELECT bsky.actor_id(viewer)), n.actor_id, n.rkey))))
  ORDER BY n.sort_at DESC
$$;
COMMENT ON FUNCTION bsky.notifications_of(text, text, timestamptz) IS 'The notifications of an account, newest first, as bsky.notifications_view has them. Empty until `skua consumers add notifications` has built them. For a viewer, usually the account itself, without records that the viewer does not see (bsky.is_hidden_from) and replies that the viewer hides in a thread of the viewer. before: only notifications with an earlier sort_at. Accounts are DIDs, handles or bsky.app URLs.';
