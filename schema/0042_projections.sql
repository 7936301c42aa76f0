-- The views of projections. Each reads the tables of the live consumer, which a build creates.

-- A view that is replaced keeps its grants and the views that others have made of it. Readers see the tables of one
-- consumer or of the next one, never a part.
CREATE FUNCTION skua.show_projection(name text, consumer_id int4) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  columns text;
  from_table text := 'WHERE false';
BEGIN
  SELECT string_agg(CASE WHEN consumer_id IS NULL THEN format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname)
                         ELSE format('%I', a.attname) END, ', ' ORDER BY a.attnum)
  INTO columns FROM pg_attribute AS a WHERE a.attrelid = ('bsky.' || name)::regclass AND a.attnum > 0;
  IF consumer_id IS NOT NULL THEN
    from_table := format('FROM skua.%I', name || '_' || consumer_id);
  END IF;
  EXECUTE format('CREATE OR REPLACE VIEW bsky.%I AS SELECT %s %s', name, columns, from_table);
END
$$;
COMMENT ON FUNCTION skua.show_projection(text, int4) IS 'Lets the view of a projection read the table of a consumer; null: no table, and the view has no rows.';

CREATE VIEW bsky.post_stats AS SELECT NULL::int4 AS actor_id, NULL::int8 AS rkey, NULL::int4 AS likes, NULL::int4 AS reposts, NULL::int4 AS replies, NULL::int4 AS quotes WHERE false;
COMMENT ON VIEW bsky.post_stats IS 'The numbers of likes, reposts, replies and quotes of a post. Empty until `skua consumers add post_stats` has built it. A post without a row has none.';
COMMENT ON COLUMN bsky.post_stats.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_stats.rkey IS 'The key of the post, as a number.';
COMMENT ON COLUMN bsky.post_stats.likes IS 'Accounts that like the post.';
COMMENT ON COLUMN bsky.post_stats.reposts IS 'Accounts that reposted it.';
COMMENT ON COLUMN bsky.post_stats.replies IS 'Posts that reply to it directly.';
COMMENT ON COLUMN bsky.post_stats.quotes IS 'Posts that quote it.';

CREATE VIEW bsky.actor_stats AS SELECT NULL::int4 AS actor_id, NULL::int4 AS followers, NULL::int4 AS follows, NULL::int4 AS posts WHERE false;
COMMENT ON VIEW bsky.actor_stats IS 'The followers, follows and posts of an account. Empty until `skua consumers add actor_stats` has built it. An account without a row has none.';
COMMENT ON COLUMN bsky.actor_stats.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN bsky.actor_stats.followers IS 'Accounts that follow it.';
COMMENT ON COLUMN bsky.actor_stats.follows IS 'Accounts that it follows.';
COMMENT ON COLUMN bsky.actor_stats.posts IS 'Its posts, including replies.';

CREATE VIEW bsky.notifications AS SELECT NULL::int4 AS recipient, NULL::int4 AS actor_id, NULL::int4 AS collection_id, NULL::int8 AS rkey, NULL::int4 AS reason, NULL::int4 AS subject_actor, NULL::int4 AS subject_collection, NULL::int8 AS subject_rkey, NULL::timestamptz AS sort_at WHERE false;
COMMENT ON VIEW bsky.notifications IS 'Notifications: a record notifies a recipient at most once, and never its own author. Empty until `skua consumers add notifications` has built it. bsky.notifications_view has names in place of numbers.';
COMMENT ON COLUMN bsky.notifications.recipient IS 'The notified account (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications.actor_id IS 'The author of the record (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications.rkey IS 'The key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications.reason IS '1: like. 2: like of a post that the recipient reposted. 3: repost. 4: repost of a post that the recipient reposted. 5: follow. 6: mention. 7: quote. 8: reply to a post of the recipient, at most five posts above.';
COMMENT ON COLUMN bsky.notifications.subject_actor IS 'The record of the recipient that the notification is about: its account. Null for a follow and a mention.';
COMMENT ON COLUMN bsky.notifications.subject_collection IS 'Its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications.subject_rkey IS 'Its key, as a number.';
COMMENT ON COLUMN bsky.notifications.sort_at IS 'The earlier of the times at which the record was created and indexed.';

CREATE VIEW bsky.post_tags AS SELECT NULL::int4 AS actor_id, NULL::int8 AS rkey, NULL::timestamptz AS hour, NULL::text AS tag WHERE false;
COMMENT ON VIEW bsky.post_tags IS 'The tags of each post, from its text and its field tags, in lower case and without #. Empty until `skua consumers add tag_trends` has built it.';
COMMENT ON COLUMN bsky.post_tags.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_tags.rkey IS 'The key of the post, as a number.';
COMMENT ON COLUMN bsky.post_tags.hour IS 'The hour of the earlier of the times at which the post was created and indexed.';
COMMENT ON COLUMN bsky.post_tags.tag IS 'The tag.';

CREATE VIEW bsky.tag_trends AS SELECT NULL::timestamptz AS hour, NULL::text AS tag, NULL::int4 AS posts WHERE false;
COMMENT ON VIEW bsky.tag_trends IS 'The number of posts with a tag in an hour. Empty until `skua consumers add tag_trends` has built it.';
COMMENT ON COLUMN bsky.tag_trends.hour IS 'The beginning of the hour, in UTC.';
COMMENT ON COLUMN bsky.tag_trends.tag IS 'The tag, in lower case and without #.';
COMMENT ON COLUMN bsky.tag_trends.posts IS 'Posts with the tag.';

CREATE FUNCTION bsky.is_current(projection text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT p.lag < interval '1 minute' FROM skua.consumer_progress(projection) AS p), false)
$$;
COMMENT ON FUNCTION bsky.is_current(text) IS 'Returns true if a projection (post_stats, actor_stats, notifications, tag_trends) is built and less than a minute behind. skua.consumer_progress returns its position.';

-- The views of posts and accounts with counts. New columns stand last.
CREATE OR REPLACE VIEW bsky.posts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did,
       a.handle,
       t.text,
       t.langs,
       t.tags,
       t.labels,
       t.facets,
       t.embed,
       'at://' || parent.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.parent_actor, 1, t.parent_rkey) AS parent_uri,
       bsky.cid_text(t.parent_cid) AS parent_cid,
       'at://' || root.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.root_actor, 1, t.root_rkey) AS root_uri,
       bsky.cid_text(t.root_cid) AS root_cid,
       'at://' || quote.did || '/' || quote_c.nsid || '/'
         || bsky.rkey_text(t.quote_actor, t.quote_collection, t.quote_rkey) AS quote_uri,
       bsky.cid_text(t.quote_cid) AS quote_cid,
       least(t.created_at, t.indexed_at) AS sort_at,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.parent_actor,
       t.parent_rkey,
       t.root_actor,
       t.root_rkey,
       t.quote_actor,
       t.quote_collection,
       t.quote_rkey,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.likes, 0) END AS likes,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.reposts, 0) END AS reposts,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.replies, 0) END AS replies,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.quotes, 0) END AS quotes
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors parent ON parent.id = t.parent_actor
LEFT JOIN bsky.actors root ON root.id = t.root_actor
LEFT JOIN bsky.actors quote ON quote.id = t.quote_actor
LEFT JOIN bsky.collections quote_c ON quote_c.id = t.quote_collection
LEFT JOIN bsky.post_stats stats ON stats.actor_id = t.actor_id AND stats.rkey = t.rkey
WHERE t.cid IS NOT NULL
  AND a.active IS NOT FALSE;
CREATE OR REPLACE VIEW bsky.actors_view AS
SELECT a.did,
       a.handle,
       p.display_name,
       p.description,
       p.avatar_cid,
       a.active,
       a.status,
       a.status_time,
       p.created_at,
       a.indexed_at,
       a.id,
       a.handle_valid,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.followers, 0) END AS followers,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.follows, 0) END AS follows,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.posts, 0) END AS posts
FROM bsky.actors a
LEFT JOIN bsky.profiles p
  ON p.actor_id = a.id AND p.rkey = bsky.rkey_number('self') AND a.active IS NOT FALSE
LEFT JOIN bsky.actor_stats stats ON stats.actor_id = a.id AND a.active IS NOT FALSE;
COMMENT ON COLUMN bsky.posts_view.likes IS 'The number of likes of the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.reposts IS 'The number of reposts of the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.replies IS 'The number of direct replies to the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.quotes IS 'The number of quotes of the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actors_view.followers IS 'The number of accounts that follow it. Null unless the projection actor_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actors_view.follows IS 'The number of accounts that it follows. Null unless the projection actor_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actors_view.posts IS 'The number of its posts, including replies. Null unless the projection actor_stats is current (bsky.is_current).';

CREATE VIEW bsky.notifications_view AS
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
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.notifications_view IS 'Notifications by active accounts. For the newest of an account: WHERE recipient = bsky.actor_id(...) ORDER BY sort_at DESC.';
COMMENT ON COLUMN bsky.notifications_view.recipient_did IS 'The notified account.';
COMMENT ON COLUMN bsky.notifications_view.recipient_handle IS 'The handle of the notified account.';
COMMENT ON COLUMN bsky.notifications_view.reason IS 'like, repost, follow, mention, quote or reply; like-via-repost and repost-via-repost: of a post that the recipient reposted.';
COMMENT ON COLUMN bsky.notifications_view.did IS 'The author of the record.';
COMMENT ON COLUMN bsky.notifications_view.handle IS 'The handle of the author.';
COMMENT ON COLUMN bsky.notifications_view.uri IS 'The record: AT-URI.';
COMMENT ON COLUMN bsky.notifications_view.subject_uri IS 'The record of the recipient that the notification is about: AT-URI. Null for a follow and a mention.';
COMMENT ON COLUMN bsky.notifications_view.sort_at IS 'The earlier of the times at which the record was created and indexed.';
COMMENT ON COLUMN bsky.notifications_view.recipient IS 'The number of the notified account (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications_view.actor_id IS 'The number of the author (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications_view.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications_view.rkey IS 'The key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications_view.subject_actor IS 'The account of the subject (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications_view.subject_collection IS 'The collection of the subject (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications_view.subject_rkey IS 'The key of the subject, as a number.';
