-- The views of projections. Each one reads the tables of the live consumer of that name. They are here and not in views/,
-- because a build replaces them (skua.show_projection). Before the first build they have no rows.

CREATE VIEW bsky.post_stats AS
SELECT NULL::int8 AS actor_id, NULL::int8 AS rkey, NULL::int4 AS likes, NULL::int4 AS reposts, NULL::int4 AS replies,
       NULL::int4 AS quotes
WHERE false;
COMMENT ON VIEW bsky.post_stats IS 'The numbers of likes, reposts, replies and quotes of a post. Empty until `skua consumers add post_stats` has built it. A post without a row has none.';
COMMENT ON COLUMN bsky.post_stats.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_stats.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_stats.likes IS 'The number of accounts that like the post.';
COMMENT ON COLUMN bsky.post_stats.reposts IS 'The number of accounts that reposted it.';
COMMENT ON COLUMN bsky.post_stats.replies IS 'The number of posts that reply to it directly, without those that violate the threadgate, if the projection post_rules exists.';
COMMENT ON COLUMN bsky.post_stats.quotes IS 'The number of posts that quote it.';

CREATE VIEW bsky.actor_stats AS
SELECT NULL::int8 AS actor_id, NULL::int4 AS followers, NULL::int4 AS follows, NULL::int4 AS posts
WHERE false;
COMMENT ON VIEW bsky.actor_stats IS 'The followers, follows and posts of an account. Empty until `skua consumers add actor_stats` has built it. An account without a row has none.';
COMMENT ON COLUMN bsky.actor_stats.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN bsky.actor_stats.followers IS 'The number of accounts that follow it.';
COMMENT ON COLUMN bsky.actor_stats.follows IS 'The number of accounts that it follows.';
COMMENT ON COLUMN bsky.actor_stats.posts IS 'The number of its posts, including replies.';

CREATE VIEW bsky.notifications AS
SELECT NULL::int8 AS recipient, NULL::int8 AS actor_id, NULL::int4 AS collection_id, NULL::int8 AS rkey,
       NULL::int4 AS reason, NULL::int8 AS subject_actor, NULL::int4 AS subject_collection, NULL::int8 AS subject_rkey,
       NULL::timestamptz AS sort_at
WHERE false;
COMMENT ON VIEW bsky.notifications IS 'Notifications: a record notifies a recipient at most once, and never its own author. Empty until `skua consumers add notifications` has built it. bsky.notifications_view has names in place of numbers.';
COMMENT ON COLUMN bsky.notifications.recipient IS 'The number of the notified account (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications.actor_id IS 'The number of the author of the record (bsky.actors.id).';
COMMENT ON COLUMN bsky.notifications.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications.reason IS '1: like. 2: like of a post that the recipient reposted. 3: repost. 4: repost of a post that the recipient reposted. 5: follow. 6: mention. 7: quote. 8: reply to a post of the recipient, at most five posts above.';
COMMENT ON COLUMN bsky.notifications.subject_actor IS 'The account of the subject (bsky.actors.id): the record of the recipient that the notification is about. Null for a follow and a mention.';
COMMENT ON COLUMN bsky.notifications.subject_collection IS 'The collection of the subject (bsky.collections.id).';
COMMENT ON COLUMN bsky.notifications.subject_rkey IS 'The record key of the subject, as a number.';
COMMENT ON COLUMN bsky.notifications.sort_at IS 'The earlier of the times at which the record was created and indexed.';

CREATE VIEW bsky.post_rules AS
SELECT NULL::int8 AS actor_id, NULL::int8 AS rkey, NULL::int8 AS root_actor, NULL::int8 AS root_rkey,
       NULL::int8 AS parent_actor, NULL::int8 AS parent_rkey, NULL::boolean AS violates_threadgate,
       NULL::boolean AS violates_embedding_rules, NULL::boolean AS is_hidden, NULL::boolean AS has_invalid_root
WHERE false;
COMMENT ON VIEW bsky.post_rules IS 'Posts that break rules, and replies for which the rules of the threadgate depend on follows or lists. Empty until `skua consumers add post_rules` has built it. A post without a row breaks no rule.';
COMMENT ON COLUMN bsky.post_rules.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_rules.root_actor IS 'The account of the first post of the thread (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.root_rkey IS 'The record key of the first post of the thread, as a number.';
COMMENT ON COLUMN bsky.post_rules.parent_actor IS 'The account of the parent post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.parent_rkey IS 'The record key of the parent post, as a number.';
COMMENT ON COLUMN bsky.post_rules.violates_threadgate IS 'True if the threadgate of the first post does not allow the author to reply. The author of the first post always may. A list counts with the items of its owner. The reply does not count in the replies of its parent, and notifies nobody of a reply.';
COMMENT ON COLUMN bsky.post_rules.violates_embedding_rules IS 'True if the postgate of the quoted post forbids quotes by others, or detaches this quote. The post does not notify the author of the quoted post.';
COMMENT ON COLUMN bsky.post_rules.is_hidden IS 'True if the threadgate names the reply in hiddenReplies.';
COMMENT ON COLUMN bsky.post_rules.has_invalid_root IS 'True if the parent is known and belongs to another thread than the reply states.';

CREATE VIEW bsky.tag_trends AS
SELECT NULL::timestamptz AS hour, NULL::text AS tag, NULL::int4 AS posts
WHERE false;
COMMENT ON VIEW bsky.tag_trends IS 'The number of posts with a tag in an hour. Empty until `skua consumers add tag_trends` has built it.';
COMMENT ON COLUMN bsky.tag_trends.hour IS 'The beginning of the hour, in UTC.';
COMMENT ON COLUMN bsky.tag_trends.tag IS 'The tag, in its normal form (bsky.normal_tag).';
COMMENT ON COLUMN bsky.tag_trends.posts IS 'The number of posts with the tag.';
