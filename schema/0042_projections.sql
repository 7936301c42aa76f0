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
COMMENT ON VIEW bsky.post_stats IS 'How often a post was liked, reposted, answered and quoted. Empty until `skua consumers add post_stats` has built it. A post without a row has none.';
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
COMMENT ON VIEW bsky.tag_trends IS 'How many posts of an hour have a tag. Empty until `skua consumers add tag_trends` has built it.';
COMMENT ON COLUMN bsky.tag_trends.hour IS 'The beginning of the hour, in UTC.';
COMMENT ON COLUMN bsky.tag_trends.tag IS 'The tag, in lower case and without #.';
COMMENT ON COLUMN bsky.tag_trends.posts IS 'Posts with the tag.';
