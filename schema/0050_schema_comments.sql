-- Comments that docs/schema.md shows. scripts/schema_docs writes its reference from them.

-- The name beside a handle has the comment of the handle.
DO $$
DECLARE
  v record;
BEGIN
  FOR v IN
    SELECT c.relname, a.attname AS name, regexp_replace(col_description(c.oid, h.attnum), '; null if it is not known\.$', ', or its DID if it has no handle.') AS comment
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname ~ '^(author_|subject_|)name$'
    JOIN pg_attribute AS h ON h.attrelid = c.oid AND h.attname = CASE a.attname WHEN 'subject_name' THEN 'subject_handle' ELSE 'handle' END
    WHERE c.relnamespace = 'bsky'::regnamespace AND c.relkind = 'v' AND col_description(c.oid, h.attnum) LIKE '%; null if it is not known.'
      -- The name of the record.
      AND NOT (a.attname = 'name' AND c.relname IN ('lists_view', 'starter_packs_view'))
  LOOP
    EXECUTE format('COMMENT ON COLUMN bsky.%I.%I IS %L', v.relname, v.name, v.comment);
  END LOOP;
END
$$;

-- ---- Posts ----

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['posts', 'posts_view'] LOOP
    EXECUTE format($comments$
      COMMENT ON COLUMN bsky.%1$I.facets IS 'The mentions, links and tags in the text, as in the record. bsky.post_facets_view has one per row. For conditions use bsky.posts.mentions, bsky.posts.all_tags and bsky.posts.links, which have an index.';
      COMMENT ON COLUMN bsky.%1$I.mentions IS 'The first 20 accounts that the text mentions (bsky.actors.id), each once; null if there are none. An index supports mentions @> ARRAY[bsky.actor_id(...)].';
      COMMENT ON COLUMN bsky.%1$I.all_tags IS 'The first 50 tags of the text, then of the field tags, each once, in their normal form (bsky.normal_tag); null if there are none. Tags of more than 640 bytes are left out. An index supports all_tags @> ARRAY[''art''].';
      COMMENT ON COLUMN bsky.%1$I.links IS 'The first 50 links of the text, then of the link card, each once and unchanged; null if there are none. Links of more than 2048 bytes are left out. An index supports links @> ARRAY[...].';
      COMMENT ON COLUMN bsky.%1$I.link_hosts IS 'The hosts of the http and https URLs in links, each once, without port and in lower case; null if there are none. An internationalized host stays as it was written. An index supports link_hosts @> ARRAY[''example.com''].'
    $comments$, relation);
  END LOOP;
END
$$;
COMMENT ON COLUMN bsky.post_links.link IS 'The URI of the link.';

-- ---- Pairs ----

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['like_pairs', 'repost_pairs', 'follow_pairs'] LOOP
    EXECUTE format($comments$
      COMMENT ON COLUMN bsky.%1$I.did IS 'The DID of the account.';
      COMMENT ON COLUMN bsky.%1$I.uri IS 'The AT-URI of the record. If the account has several records for the subject, it is the one with the lowest key.';
      COMMENT ON COLUMN bsky.%1$I.rkey IS 'The record key of the record, as a number.'
    $comments$, relation);
    IF relation <> 'follow_pairs' THEN
      EXECUTE format($comments$
        COMMENT ON COLUMN bsky.%1$I.subject_uri IS 'The AT-URI of the subject.';
        COMMENT ON COLUMN bsky.%1$I.subject_rkey IS 'The record key of the subject, as a number.'
      $comments$, relation);
    END IF;
  END LOOP;
END
$$;
COMMENT ON COLUMN bsky.follow_pairs.subject_did IS 'The DID of the followed account.';
COMMENT ON COLUMN bsky.follow_pairs.subject_actor IS 'The number of the followed account (bsky.actors.id).';

-- ---- Projections and feeds ----

COMMENT ON COLUMN bsky.post_stats.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_rules.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.feed_reposts.rkey IS 'The record key of the repost, as a number.';
COMMENT ON COLUMN bsky.feed_reposts.subject_rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_stats.likes IS 'The number of accounts that like the post.';
COMMENT ON COLUMN bsky.post_stats.reposts IS 'The number of accounts that reposted it.';
COMMENT ON COLUMN bsky.post_stats.replies IS 'The number of posts that reply to it directly, without those that violate the threadgate, if the projection post_rules exists.';
COMMENT ON COLUMN bsky.post_stats.quotes IS 'The number of posts that quote it.';
COMMENT ON COLUMN bsky.posts_view.replies IS 'The number of direct replies to the post, without those that violate the threadgate, if the projection post_rules exists. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actor_stats.followers IS 'The number of accounts that follow it.';
COMMENT ON COLUMN bsky.actor_stats.follows IS 'The number of accounts that it follows.';
COMMENT ON COLUMN bsky.actor_stats.posts IS 'The number of its posts, including replies.';
COMMENT ON COLUMN bsky.tag_trends.tag IS 'The tag, in its normal form (bsky.normal_tag).';
COMMENT ON COLUMN bsky.tag_trends.posts IS 'The number of posts with the tag.';

COMMENT ON VIEW bsky.notifications_view IS 'Notifications by active accounts, without those about deleted posts and those to deleted accounts. bsky.notifications_of returns those of one account.';
COMMENT ON COLUMN bsky.notifications.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications_view.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.notifications_view.recipient_did IS 'The DID of the notified account.';
COMMENT ON COLUMN bsky.notifications_view.recipient_handle IS 'The handle of the notified account; null if it is not known.';
COMMENT ON COLUMN bsky.notifications_view.recipient_name IS 'The handle of the notified account, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.notifications_view.did IS 'The DID of the author of the record.';
COMMENT ON COLUMN bsky.notifications_view.handle IS 'The handle of the author; null if it is not known.';
COMMENT ON COLUMN bsky.notifications_view.name IS 'The handle of the author, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.notifications_view.uri IS 'The AT-URI of the record.';
COMMENT ON COLUMN bsky.notifications_view.subject_uri IS 'The AT-URI of the subject: the record of the recipient that the notification is about. Null for a follow and a mention.';
DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['notifications', 'notifications_view'] LOOP
    EXECUTE format($comments$
      COMMENT ON COLUMN bsky.%1$I.recipient IS 'The number of the notified account (bsky.actors.id).';
      COMMENT ON COLUMN bsky.%1$I.actor_id IS 'The number of the author of the record (bsky.actors.id).';
      COMMENT ON COLUMN bsky.%1$I.subject_actor IS 'The account of the subject (bsky.actors.id): the record of the recipient that the notification is about. Null for a follow and a mention.';
      COMMENT ON COLUMN bsky.%1$I.subject_collection IS 'The collection of the subject (bsky.collections.id).';
      COMMENT ON COLUMN bsky.%1$I.subject_rkey IS 'The record key of the subject, as a number.'
    $comments$, relation);
  END LOOP;
END
$$;

COMMENT ON COLUMN bsky.post_rules.root_actor IS 'The account of the first post of the thread (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.root_rkey IS 'The record key of the first post of the thread, as a number.';
COMMENT ON COLUMN bsky.post_rules.parent_actor IS 'The account of the parent post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.parent_rkey IS 'The record key of the parent post, as a number.';
COMMENT ON COLUMN bsky.post_rules.violates_threadgate IS 'True if the threadgate of the first post does not allow the author to reply. The author of the first post always may. A list counts with the items of its owner. The reply does not count in the replies of its parent, and notifies nobody of a reply.';
COMMENT ON COLUMN bsky.post_rules.violates_embedding_rules IS 'True if the postgate of the quoted post forbids quotes by others, or detaches this quote. The post does not notify the author of the quoted post.';
COMMENT ON COLUMN bsky.post_rules.is_hidden IS 'True if the threadgate names the reply in hiddenReplies.';
COMMENT ON COLUMN bsky.post_rules.has_invalid_root IS 'True if the parent is known and belongs to another thread than the reply states.';

-- ---- Functions ----

COMMENT ON FUNCTION bsky.cid_text(bytea) IS 'The CID of a record as text, for its SHA-256.';
COMMENT ON FUNCTION bsky.is_current(text) IS 'True if a projection (post_stats, actor_stats, notifications, post_rules, tag_trends) is built and less than a minute behind. skua.consumer_progress returns its position.';
COMMENT ON FUNCTION bsky.normal_tag(text) IS 'The normal form of a tag, as in bsky.posts.all_tags: without # at its beginning and in lower case (Latin, Greek, Cyrillic, Armenian and full-width letters).';
COMMENT ON FUNCTION bsky.post(text) IS 'The post of an AT-URI or a bsky.app URL, as bsky.posts_view has it. No row if the post is not there.';
COMMENT ON FUNCTION bsky.record_json(text) IS 'The current record of an AT-URI or a bsky.app URL, as JSON.';
COMMENT ON FUNCTION bsky.rkey_number(text) IS 'The number of a record key: the value of a timestamp identifier, or a negative hash of any other text.';
COMMENT ON FUNCTION bsky.rkey_text(int4, int4, int8) IS 'The text of a record key.';
COMMENT ON FUNCTION bsky.stored_rkey(int4, int4, int8) IS 'The text of a record key from bsky.rkeys. Use bsky.rkey_text.';
COMMENT ON FUNCTION bsky.tid_number(text) IS 'The number of a timestamp identifier. The form of the text is not checked.';
COMMENT ON FUNCTION bsky.tid_text(int8) IS 'The text of a timestamp identifier: of a revision, or of a record key that is not negative.';
COMMENT ON FUNCTION bsky.uri(int4, int4, int8) IS 'The AT-URI of a record; null if its account, collection or key is not known.';
COMMENT ON FUNCTION skua.change_log_end() IS 'The position of the next change.';
COMMENT ON FUNCTION skua.change_references(int8, int4) IS 'The references that the changes from a position on add (delta 1) or remove (-1), one per row, of at most max_blocks blocks. Delta 0: another record of the account has the same reference.';
COMMENT ON FUNCTION skua.changes(int8, int4) IS 'The changes from a position on, one per row, of at most max_blocks blocks.';

-- ---- The schema skua ----

COMMENT ON COLUMN skua.backfill_jobs.did IS 'The DID of the account.';
COMMENT ON COLUMN skua.backfill_jobs.state IS 'queued: waits until next_attempt. running: a process has leased it. done: the records are stored. unavailable: the host states that it has no such repository. failed: the maximum number of attempts was reached. cancelled: by `skua backfill cancel`.';
COMMENT ON COLUMN skua.change_log.ref_actor IS 'The account of the target (bsky.actors.id).';
COMMENT ON COLUMN skua.change_log.ref_collection IS 'The collection of the target (bsky.collections.id); 0: the target is an account.';
COMMENT ON COLUMN skua.change_log.ref_rkey IS 'The record key of the target, as a number; 0: the target is an account.';
COMMENT ON TABLE skua.change_log IS 'The change log: a row is a block with the changes of one transaction, as parallel arrays. Positions are gapless and in commit order: the next block begins at pos + n. skua.changes and skua.change_references return single changes.';
COMMENT ON TABLE skua.consumer_secrets IS 'The secrets of webhooks, and the hashed tokens of pull consumers. Readers of the database do not see them.';
COMMENT ON TABLE skua.dead_letter IS 'Dead letters: input that the indexer could not store as rows, and changes that a consumer of the change log could not process, with the reason and with what a replay needs. `skua dead-letters` reads and changes them.';
COMMENT ON TABLE skua.tombstones IS 'Recent deletes, so that a repeated create does not restore a deleted record. A row is removed after the saved cursor has passed it, but not while a backfill of the account runs.';
COMMENT ON TABLE skua.filter IS 'The filter: the collections and accounts that are stored. If it has no row of a kind, everything of that kind is stored. You may change it: the change applies when it commits.';
COMMENT ON TABLE skua.consumers IS 'The consumers of the change log. `skua consumers` lists and changes them.';
COMMENT ON COLUMN skua.consumers.kind IS 'projection: keeps tables of this database up to date, exactly once. pull: a program fetches changes from `skua serve` and acknowledges them. webhook: `skua serve` sends changes to a URL.';
COMMENT ON COLUMN skua.consumers.version IS 'The version of the projection that built the tables. `skua run` rebuilds the tables of an older version.';
COMMENT ON COLUMN skua.consumer_lanes.attempts IS 'The number of failures of the change at pos.';
COMMENT ON COLUMN skua.consumer_lanes.is_blocked IS 'True: a change failed too often, and the policy is block_lane. `skua consumers reset` continues the lane.';
COMMENT ON COLUMN skua.waiting_changes.attempts IS 'The number of failures of the change at pos.';
COMMENT ON TABLE skua.metrics IS 'The latest metrics of each source and of the backfill, for `skua status`.';
COMMENT ON COLUMN skua.metrics.metrics IS 'Keys and values. `skua help metrics` explains them.';
