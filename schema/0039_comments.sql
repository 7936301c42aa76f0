-- Comments in plain sentences. The tables and views of records share most of their columns: two functions write the
-- comments of these columns, here and in the migrations that add collections.

CREATE FUNCTION skua.comment_on_reference(records text, reference text, target text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  of_record boolean := EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = format('bsky.%I', records)::regclass AND attname = reference || '_rkey');
  place record;
BEGIN
  FOR place IN
    SELECT c.oid::regclass AS relation, a.attname AS name, c.relkind = 'v' AS is_view
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'bsky'::regnamespace AND c.relname IN (records, records || '_view')
      AND a.attname IN (SELECT reference || suffix FROM unnest(ARRAY['_actor', '_collection', '_rkey', '_cid', '_uri', '_did', '_handle']) AS suffix)
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', place.relation, place.name, CASE substr(place.name, length(reference) + 1)
      WHEN '_actor' THEN CASE WHEN of_record THEN 'The account of ' || target ELSE 'The number of ' || target END || ' (bsky.actors.id).'
      WHEN '_collection' THEN 'The collection of ' || target || ' (bsky.collections.id).'
      WHEN '_rkey' THEN 'The record key of ' || target || ', as a number.'
      WHEN '_cid' THEN CASE WHEN place.is_view THEN 'The CID' ELSE 'SHA-256' END || ' of the referenced version of ' || target || '.'
      WHEN '_uri' THEN 'The AT-URI of ' || target || '; null if there is none. A reference that does not contain a DID is in extra.'
      WHEN '_did' THEN 'The DID of ' || target || '.'
      WHEN '_handle' THEN 'The handle of ' || target || '; null if it is not known.'
    END);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.comment_on_reference(text, text, text) IS 'Writes the comments of the columns of a reference, in a table of records and in its view. The target is a noun phrase, such as: the liked record.';

CREATE FUNCTION skua.comment_on_records(records text, nsid text, content text, note text DEFAULT '') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  stored regclass := format('bsky.%I', records);
  shown regclass := format('bsky.%I', records || '_view');
  name text;
  text_in_table text;
  text_in_view text;
BEGIN
  EXECUTE format('COMMENT ON TABLE %s IS %L', stored, content || ': the records of ' || nsid || '.' || note);
  EXECUTE format('COMMENT ON VIEW %s IS %L', shown, content || '. Records of inactive accounts are hidden. Compare keys and not URIs: bsky.resolve_uri returns the key of a URI.');
  FOR name, text_in_table, text_in_view IN VALUES
    ('uri', NULL, 'The AT-URI of the record.'),
    ('did', NULL, 'The DID of the author.'),
    ('handle', NULL, 'The handle of the author; null if it is not known.'),
    ('actor_id', 'The account whose repository contains the record (bsky.actors.id).',
                 'The account number of the author. The key of the table is actor_id and rkey.'),
    ('rkey', 'The record key, as a number (bsky.rkey_text returns its text).',
             'The record key, as a number. The key of the table is actor_id and rkey.'),
    ('rev', 'The newest known revision of the repository that contains the row (bsky.tid_text returns its text).',
            'The newest known revision of the repository that contains the row, as text.'),
    ('cid', 'SHA-256 of the block of the record (bsky.cid_text returns the CID).', 'The CID of this version of the record.'),
    ('created_at', 'The creation time that the record states. It can be any time. Null if the record states none.', NULL),
    ('indexed_at', 'The time at which this version of the record was indexed.', NULL),
    ('extra', 'The fields of the record that have no column, as JSON; null if there are none.', NULL)
  LOOP
    IF text_in_table IS NOT NULL THEN
      EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', stored, name, text_in_table);
    END IF;
    IF text_in_view IS NOT NULL THEN
      EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', shown, name, text_in_view);
    END IF;
  END LOOP;
  -- The other columns of the view have the comment of the table, unless they have one of the view.
  FOR name, text_in_table IN
    SELECT s.attname, col_description(stored, s.attnum)
    FROM pg_attribute AS s JOIN pg_attribute AS v ON v.attrelid = shown AND v.attname = s.attname AND v.attnum > 0
    WHERE s.attrelid = stored AND s.attnum > 0 AND s.attname NOT IN ('handle', 'actor_id', 'rkey', 'rev', 'cid')
      AND col_description(stored, s.attnum) IS NOT NULL AND NOT EXISTS (
        -- A column of a reference.
        SELECT FROM pg_attribute AS r WHERE r.attrelid = stored AND s.attname ~ '_(actor|collection|rkey|cid)$'
          AND r.attname = regexp_replace(s.attname, '_[a-z]+$', '_actor'))
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', shown, name, text_in_table);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.comment_on_records(text, text, text, text) IS 'Writes the comments of a table of records and of its view, and of the columns that all of them have. The view gets the comments of the other columns from the table. The content is a noun phrase; the note is added to the comment of the table.';

-- The columns that a table does not share.

COMMENT ON COLUMN bsky.posts.is_deleted IS 'True for a stub of a deleted post.';
COMMENT ON COLUMN bsky.posts.text IS 'The text, without NUL characters.';
COMMENT ON COLUMN bsky.posts.langs IS 'The languages that the author states, as language tags.';
COMMENT ON COLUMN bsky.posts.tags IS 'The tags that are not in the text.';
COMMENT ON COLUMN bsky.posts.labels IS 'The content warnings that the author chose.';
COMMENT ON COLUMN bsky.posts.facets IS 'The mentions, links and tags in the text, as in the record. bsky.post_facets_view has one per row. An index supports conditions with @>, such as facets @> ''[{"features": [{"tag": "art"}]}]''.';
COMMENT ON COLUMN bsky.posts.embed IS 'The images, video, link card or quoted record, as in the record.';
COMMENT ON COLUMN bsky.posts_view.sort_at IS 'The earlier one of created_at and indexed_at. Sort posts by it: it has an index.';
COMMENT ON STATISTICS bsky.posts_sort_at IS 'The distribution of the posts over sort_at, for the planner.';

COMMENT ON COLUMN bsky.threadgates.is_restricted IS 'True if only the accounts that a rule names may reply; without a rule nobody may. False if everybody may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_mentioned IS 'True if the accounts that the post mentions may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_following IS 'True if the accounts that the author follows may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_followers IS 'True if the accounts that follow the author may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_lists IS 'The lists whose members may reply, as AT-URIs.';
COMMENT ON COLUMN bsky.threadgates.hidden_replies IS 'The replies that the author hid, as AT-URIs.';
COMMENT ON COLUMN bsky.postgates.embedding_disabled IS 'True if only the author may quote the post.';
COMMENT ON COLUMN bsky.postgates.detached_uris IS 'The posts whose quotes of this post the author removed, as AT-URIs.';

COMMENT ON COLUMN bsky.feed_generators.service_did IS 'The DID of the service that returns the feed.';
COMMENT ON COLUMN bsky.feed_generators.display_name IS 'The name of the feed.';
COMMENT ON COLUMN bsky.feed_generators.description IS 'The description of the feed.';
COMMENT ON COLUMN bsky.feed_generators.description_facets IS 'The mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.feed_generators.avatar_cid IS 'The CID of the picture.';
COMMENT ON COLUMN bsky.feed_generators.accepts_interactions IS 'True if the service wants to receive the interactions of users with its posts.';
COMMENT ON COLUMN bsky.feed_generators.content_mode IS 'The kind of content, such as app.bsky.feed.defs#contentModeVideo.';
COMMENT ON COLUMN bsky.feed_generators.labels IS 'The content warnings that the author chose.';

COMMENT ON COLUMN bsky.lists.purpose IS 'The purpose of the list: app.bsky.graph.defs#curatelist, #modlist or #referencelist.';
COMMENT ON COLUMN bsky.lists.name IS 'The name of the list.';
COMMENT ON COLUMN bsky.lists.description IS 'The description of the list.';
COMMENT ON COLUMN bsky.lists.description_facets IS 'The mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.lists.avatar_cid IS 'The CID of the picture.';
COMMENT ON COLUMN bsky.lists.labels IS 'The content warnings that the author chose.';
COMMENT ON COLUMN bsky.starter_packs.name IS 'The name of the starter pack.';
COMMENT ON COLUMN bsky.starter_packs.description IS 'The description of the starter pack.';
COMMENT ON COLUMN bsky.starter_packs.description_facets IS 'The mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.starter_packs.feeds IS 'The recommended feed generators, as AT-URIs.';
COMMENT ON COLUMN bsky.verifications.handle IS 'The handle of the verified account when it was verified. The verification is valid only while the account has this handle.';
COMMENT ON COLUMN bsky.verifications.display_name IS 'The display name of the verified account when it was verified. The verification is valid only while the account has this name.';
COMMENT ON COLUMN bsky.verifications_view.verified_handle IS 'The handle of the verified account when it was verified. The verification is valid only while the account has this handle.';

COMMENT ON COLUMN bsky.profiles.display_name IS 'The display name.';
COMMENT ON COLUMN bsky.profiles.description IS 'The description of the account.';
COMMENT ON COLUMN bsky.profiles.pronouns IS 'The pronouns of the account''s owner.';
COMMENT ON COLUMN bsky.profiles.website IS 'The address of a website.';
COMMENT ON COLUMN bsky.profiles.avatar_cid IS 'The CID of the picture.';
COMMENT ON COLUMN bsky.profiles.banner_cid IS 'The CID of the banner.';
COMMENT ON COLUMN bsky.profiles.labels IS 'The labels that the account gives itself.';
COMMENT ON COLUMN bsky.statuses.status IS 'The status, such as app.bsky.actor.status#live.';
COMMENT ON COLUMN bsky.statuses.embed IS 'The link card, as in the record.';
COMMENT ON COLUMN bsky.statuses.duration_minutes IS 'The duration of the status from created_at on, in minutes.';
COMMENT ON COLUMN bsky.chat_declarations.allow_incoming IS 'The accounts that may send messages: all, none or following.';
COMMENT ON COLUMN bsky.notification_declarations.allow_subscriptions IS 'The accounts that may subscribe: followers, mutuals or none.';
COMMENT ON COLUMN bsky.germ_declarations.version IS 'The version of the declaration.';
COMMENT ON COLUMN bsky.germ_declarations.current_key IS 'The public key.';
COMMENT ON COLUMN bsky.labelers.policies IS 'The label values and their definitions, as in the record.';
COMMENT ON COLUMN bsky.labelers.labels IS 'The labels that the account gives itself.';
COMMENT ON COLUMN bsky.labelers.reason_types IS 'The reasons for which the labeler accepts reports; null: all.';
COMMENT ON COLUMN bsky.labelers.subject_types IS 'The kinds of subject about which the labeler accepts reports; null: all.';
COMMENT ON COLUMN bsky.labelers.subject_collections IS 'The collections about which the labeler accepts reports; null: all.';

SELECT skua.comment_on_reference(records, reference, target) FROM (VALUES
  ('posts', 'parent', 'the parent post'),
  ('posts', 'root', 'the first post of the thread'),
  ('posts', 'quote', 'the quoted record'),
  ('likes', 'subject', 'the liked record'),
  ('likes', 'via', 'the repost that showed the subject to the author'),
  ('reposts', 'subject', 'the reposted record'),
  ('reposts', 'via', 'the repost that showed the subject to the author'),
  ('threadgates', 'post', 'the first post of the thread'),
  ('postgates', 'post', 'the post to which the rules apply'),
  ('follows', 'subject', 'the followed account'),
  ('follows', 'via', 'the record that led to the follow'),
  ('blocks', 'subject', 'the blocked account'),
  ('list_items', 'subject', 'the account on the list'),
  ('list_items', 'list', 'the list'),
  ('list_blocks', 'list', 'the list'),
  ('starter_packs', 'list', 'the list of recommended accounts'),
  ('verifications', 'subject', 'the verified account'),
  ('profiles', 'pinned', 'the pinned post'),
  ('profiles', 'joined_via', 'the starter pack that the account joined with')
) AS r (records, reference, target);

SELECT skua.comment_on_records(records, nsid, content, note) FROM (VALUES
  ('posts', 'app.bsky.feed.post', 'Posts', ' A row with a null cid is a stub: a post that another record mentions and that Skua has not seen, or a deleted post.'),
  ('likes', 'app.bsky.feed.like', 'Likes of posts, feed generators and labelers', ''),
  ('reposts', 'app.bsky.feed.repost', 'Reposts of posts', ''),
  ('threadgates', 'app.bsky.feed.threadgate', 'Rules for replies in a thread', ' A record applies only if it has the author and the key of the post.'),
  ('postgates', 'app.bsky.feed.postgate', 'Rules for quotes of a post', ' A record applies only if it has the author and the key of the post.'),
  ('feed_generators', 'app.bsky.feed.generator', 'Custom feeds', ''),
  ('follows', 'app.bsky.graph.follow', 'Follows of accounts', ' via_actor and via_rkey refer to the record that led to the follow, such as a starter pack.'),
  ('blocks', 'app.bsky.graph.block', 'Blocks of accounts', ''),
  ('lists', 'app.bsky.graph.list', 'Lists of accounts', ''),
  ('list_items', 'app.bsky.graph.listitem', 'Accounts on lists', ' A record applies only if its author is the owner of the list.'),
  ('list_blocks', 'app.bsky.graph.listblock', 'Blocks of all accounts on a list', ''),
  ('starter_packs', 'app.bsky.graph.starterpack', 'Starter packs with accounts and feeds for new users', ''),
  ('verifications', 'app.bsky.graph.verification', 'Verifications of accounts by other accounts', ''),
  ('profiles', 'app.bsky.actor.profile', 'Profiles, one per account', ''),
  ('statuses', 'app.bsky.actor.status', 'Current statuses of accounts, one per account', ''),
  ('chat_declarations', 'chat.bsky.actor.declaration', 'Rules for direct messages, one per account', ''),
  ('notification_declarations', 'app.bsky.notification.declaration', 'Rules for subscriptions to posts, one per account', ''),
  ('germ_declarations', 'com.germnetwork.declaration', 'Keys and rules for Germ messages, one per account', ''),
  ('labelers', 'app.bsky.labeler.service', 'Labeling services, one per account', '')
) AS r (records, nsid, content, note);

COMMENT ON COLUMN bsky.posts.rev IS 'The newest known revision of the repository that contains the row (bsky.tid_text returns its text); 0: a stub of a post that Skua has not seen.';
COMMENT ON COLUMN bsky.posts.cid IS 'SHA-256 of the block of the record (bsky.cid_text returns the CID); null: a stub.';
COMMENT ON COLUMN bsky.posts.indexed_at IS 'The time at which this version of the record was indexed; for a stub, the time at which the row was created.';
COMMENT ON VIEW bsky.posts_view IS 'Posts, without stubs. Posts of inactive accounts are hidden. Compare keys and not URIs: bsky.resolve_uri returns the key of a URI.';

COMMENT ON TABLE bsky.records IS 'The records of all other collections, and the records that violate their lexicon.';
COMMENT ON COLUMN bsky.records.rkey IS 'The record key, as a number (bsky.rkey_text returns its text).';
COMMENT ON COLUMN bsky.records.rev IS 'The newest known revision of the repository that contains the row (bsky.tid_text returns its text).';
COMMENT ON COLUMN bsky.records.indexed_at IS 'The time at which this version of the record was indexed.';
COMMENT ON COLUMN bsky.records.actor_id IS 'The account whose repository contains the record (bsky.actors.id).';
COMMENT ON COLUMN bsky.records.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.records.cid IS 'SHA-256 of the block of the record (bsky.cid_text returns the CID).';
COMMENT ON COLUMN bsky.records.record IS 'The whole record, without NUL characters.';
COMMENT ON COLUMN bsky.records.invalid_reason IS 'For a record of a collection that has a table: the reason why it violates its lexicon.';
COMMENT ON VIEW bsky.records_view IS 'The records of collections without a table, and the records that violate their lexicon.';
COMMENT ON COLUMN bsky.records_view.uri IS 'The AT-URI of the record.';
COMMENT ON COLUMN bsky.records_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.records_view.handle IS 'The handle of the author; null if it is not known.';
COMMENT ON COLUMN bsky.records_view.collection IS 'The NSID of the collection.';
COMMENT ON COLUMN bsky.records_view.record IS 'The whole record, without NUL characters.';
COMMENT ON COLUMN bsky.records_view.invalid_reason IS 'For a record of a collection that has a table: the reason why it violates its lexicon.';
COMMENT ON COLUMN bsky.records_view.indexed_at IS 'The time at which this version of the record was indexed.';
COMMENT ON COLUMN bsky.records_view.cid IS 'The CID of this version of the record.';
COMMENT ON COLUMN bsky.records_view.rev IS 'The newest known revision of the repository that contains the row, as text.';
COMMENT ON COLUMN bsky.records_view.actor_id IS 'The account number of the author. The key of the table is actor_id, collection_id and rkey.';
COMMENT ON COLUMN bsky.records_view.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.records_view.rkey IS 'The record key, as a number. The key of the table is actor_id, collection_id and rkey.';

COMMENT ON VIEW bsky.all_records IS 'The current records of all tables, without stubs. Records of inactive accounts are included.';
COMMENT ON COLUMN bsky.all_records.uri IS 'The AT-URI of the record.';
COMMENT ON COLUMN bsky.all_records.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.all_records.collection IS 'The NSID of the collection.';
COMMENT ON COLUMN bsky.all_records.rkey IS 'The record key, as text.';
COMMENT ON COLUMN bsky.all_records.cid IS 'The CID of this version of the record.';
COMMENT ON COLUMN bsky.all_records.rev IS 'The newest known revision of the repository that contains the row, as text.';
COMMENT ON COLUMN bsky.all_records.indexed_at IS 'The time at which this version of the record was indexed.';

COMMENT ON VIEW bsky.post_facets_view IS 'The mentions, links and tags in the texts of posts, one per row.';
COMMENT ON COLUMN bsky.post_facets_view.uri IS 'The AT-URI of the post.';
COMMENT ON COLUMN bsky.post_facets_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.post_facets_view.kind IS 'The kind: mention, link or tag.';
COMMENT ON COLUMN bsky.post_facets_view.value IS 'The mentioned DID, the address of the link, or the tag without its #.';
COMMENT ON COLUMN bsky.post_facets_view.byte_start IS 'The index of the first byte in the UTF-8 text, from 0.';
COMMENT ON COLUMN bsky.post_facets_view.byte_end IS 'The index of the first byte after it.';
COMMENT ON COLUMN bsky.post_facets_view.actor_id IS 'The account number of the author.';
COMMENT ON COLUMN bsky.post_facets_view.rkey IS 'The record key of the post, as a number.';
COMMENT ON VIEW bsky.post_images_view IS 'The images of posts, one per row. Galleries and images beside a quoted record are included.';
COMMENT ON COLUMN bsky.post_images_view.uri IS 'The AT-URI of the post.';
COMMENT ON COLUMN bsky.post_images_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.post_images_view.position IS 'The position of the image in the post, from 1.';
COMMENT ON COLUMN bsky.post_images_view.cid IS 'The CID of the blob.';
COMMENT ON COLUMN bsky.post_images_view.alt IS 'The description of the image.';
COMMENT ON COLUMN bsky.post_images_view.mime_type IS 'The MIME type, such as image/jpeg.';
COMMENT ON COLUMN bsky.post_images_view.size IS 'The size of the blob in bytes, as the record states it.';
COMMENT ON COLUMN bsky.post_images_view.width IS 'The width of the image, relative to height.';
COMMENT ON COLUMN bsky.post_images_view.height IS 'The height of the image, relative to width.';
COMMENT ON COLUMN bsky.post_images_view.actor_id IS 'The account number of the author.';
COMMENT ON COLUMN bsky.post_images_view.rkey IS 'The record key of the post, as a number.';

COMMENT ON TABLE bsky.actors IS 'All accounts that were seen, or that a record mentions. The id stands for the DID in all other tables.';
COMMENT ON COLUMN bsky.actors.id IS 'The account number. It differs between databases.';
COMMENT ON COLUMN bsky.actors.did IS 'The DID of the account, such as did:plc:z72i7hdynmk6r22z27h6tvur.';
COMMENT ON COLUMN bsky.actors.floor_rev IS 'The minimum revision: events of this account at or below it are dropped; 0: none.';
COMMENT ON COLUMN bsky.actors.indexed_at IS 'The time at which the account was first seen or mentioned.';
COMMENT ON COLUMN bsky.actors.active IS 'True if the host serves the account; null if its hosting status is not known.';
COMMENT ON COLUMN bsky.actors.status IS 'The reason of the hosting status, such as takendown, suspended, deleted or deactivated. An active account can have one too. The records of a deleted account are deleted.';
COMMENT ON COLUMN bsky.actors.status_time IS 'The time of the event that set active and status.';
COMMENT ON COLUMN bsky.actors.handle IS 'The handle that the account owns. An account owns the handle that it claims, unless a look-up refuted the claim. If several accounts claim a handle, the owner is the one whose claim a look-up confirmed, and without a confirmed claim the latest one. No two accounts own the same handle.';
COMMENT ON COLUMN bsky.actors.handle_claim IS 'The handle in the DID document of the account, or the one that its host announced last.';
COMMENT ON COLUMN bsky.actors.handle_time IS 'The time of the event that contained the claim.';
COMMENT ON COLUMN bsky.actors.handle_check_due IS 'The due time of the look-up of the claim; null: none is due.';
COMMENT ON COLUMN bsky.actors.handle_valid IS 'The result of the look-up of the claim by DNS or HTTPS: true if the handle leads back to the account; null before the first look-up. A repeated claim keeps the result until the next look-up.';
COMMENT ON COLUMN bsky.actors.handle_lookups_charged_to IS 'A limit of look-ups of the handle. Each look-up moves this time ahead by five minutes, starting at the current time if it is in the past. A look-up that would move it more than fifty minutes ahead of the current time waits.';
COMMENT ON VIEW bsky.actors_view IS 'The accounts, with their profiles. An inactive account has no profile here.';
COMMENT ON COLUMN bsky.actors_view.did IS 'The DID of the account.';
COMMENT ON COLUMN bsky.actors_view.handle IS 'The handle that the account owns (bsky.actors.handle).';
COMMENT ON COLUMN bsky.actors_view.display_name IS 'The display name in the profile.';
COMMENT ON COLUMN bsky.actors_view.description IS 'The description in the profile.';
COMMENT ON COLUMN bsky.actors_view.avatar_cid IS 'The CID of the picture in the profile.';
COMMENT ON COLUMN bsky.actors_view.active IS 'True if the host serves the account; null if its hosting status is not known.';
COMMENT ON COLUMN bsky.actors_view.status IS 'The reason of the hosting status.';
COMMENT ON COLUMN bsky.actors_view.status_time IS 'The time of the event that set active and status.';
COMMENT ON COLUMN bsky.actors_view.created_at IS 'The creation time that the profile states.';
COMMENT ON COLUMN bsky.actors_view.indexed_at IS 'The time at which the account was first seen or mentioned.';
COMMENT ON COLUMN bsky.actors_view.id IS 'The account number.';
COMMENT ON COLUMN bsky.actors_view.handle_valid IS 'True if a look-up confirmed that the claimed handle leads back to the account; null before the first look-up.';

COMMENT ON TABLE bsky.collections IS 'The collections, by number. Collections below 1000 have a table of their own. The records of the others are in bsky.records.';
COMMENT ON COLUMN bsky.collections.id IS 'The number: fixed below 1000, otherwise assigned when the collection is first seen.';
COMMENT ON COLUMN bsky.collections.nsid IS 'The NSID of the collection, such as app.bsky.feed.post.';
COMMENT ON TABLE bsky.rkeys IS 'The texts of the record keys that cannot be computed from their numbers: all except timestamp identifiers and self.';
COMMENT ON COLUMN bsky.rkeys.rkey IS 'The number of the record key, which is negative (bsky.rkey_number).';
COMMENT ON COLUMN bsky.rkeys.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN bsky.rkeys.collection_id IS 'The collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.rkeys.text IS 'The text of the record key.';

COMMENT ON TABLE bsky.labels IS 'The newest label of each labeler for each subject and value. Negated and expired labels are included.';
COMMENT ON COLUMN bsky.labels.subject_rkey IS 'The record key of the labelled record, as a number; 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels.seq IS 'The sequence number of the labeler''s frame that contained the label.';
COMMENT ON COLUMN bsky.labels.cts IS 'The creation time that the labeler states. The newest label counts, by cts and then by seq.';
COMMENT ON COLUMN bsky.labels.exp IS 'The time at which the label expires; null: never.';
COMMENT ON COLUMN bsky.labels.indexed_at IS 'The time at which this label was indexed.';
COMMENT ON COLUMN bsky.labels.actor_id IS 'The account number of the labeler (bsky.actors.id).';
COMMENT ON COLUMN bsky.labels.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id).';
COMMENT ON COLUMN bsky.labels.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels.neg IS 'True if the labeler negated the label. The row stays, so that a repetition does not restore the label.';
COMMENT ON COLUMN bsky.labels.cid IS 'SHA-256 of the labelled version (bsky.cid_text returns the CID); null: all versions.';
COMMENT ON COLUMN bsky.labels.val IS 'The value of the label, such as porn or !hide.';
COMMENT ON VIEW bsky.labels_view IS 'The labels in force: neither negated nor expired. Compare keys and not URIs: bsky.resolve_uri returns the key of a URI.';
COMMENT ON COLUMN bsky.labels_view.did IS 'The DID of the labeler.';
COMMENT ON COLUMN bsky.labels_view.handle IS 'The handle of the labeler; null if it is not known.';
COMMENT ON COLUMN bsky.labels_view.subject_uri IS 'The AT-URI of the labelled record, or at:// and the DID of the labelled account.';
COMMENT ON COLUMN bsky.labels_view.subject_did IS 'The DID of the labelled account, or of the account of the labelled record.';
COMMENT ON COLUMN bsky.labels_view.subject_cid IS 'The CID of the labelled version; null: all versions.';
COMMENT ON COLUMN bsky.labels_view.val IS 'The value of the label, such as porn or !hide.';
COMMENT ON COLUMN bsky.labels_view.cts IS 'The creation time that the labeler states.';
COMMENT ON COLUMN bsky.labels_view.exp IS 'The time at which the label expires; null: never.';
COMMENT ON COLUMN bsky.labels_view.indexed_at IS 'The time at which the label was indexed.';
COMMENT ON COLUMN bsky.labels_view.seq IS 'The sequence number of the labeler''s frame that contained the label.';
COMMENT ON COLUMN bsky.labels_view.actor_id IS 'The account number of the labeler.';
COMMENT ON COLUMN bsky.labels_view.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id).';
COMMENT ON COLUMN bsky.labels_view.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels_view.subject_rkey IS 'The record key of the labelled record, as a number; 0: the subject is an account.';

COMMENT ON FUNCTION bsky.actor_id(text) IS 'Returns the number of an account, by DID or handle; null if the account is not known.';
COMMENT ON FUNCTION bsky.cid_text(bytea) IS 'Returns the CID of a record as text, for its SHA-256.';
COMMENT ON FUNCTION bsky.post(text) IS 'Returns the row of bsky.posts_view for an AT-URI; no row if the post is not there.';
COMMENT ON FUNCTION bsky.resolve_uri(text) IS 'Returns the key of an AT-URI, by DID or handle, for joins with the primary keys of the tables; no row if the account or the collection is not known.';
COMMENT ON FUNCTION bsky.rkey_number(text) IS 'Returns the number of a record key: the value of a timestamp identifier, or a negative hash of any other text.';
COMMENT ON FUNCTION bsky.rkey_text(int4, int4, int8) IS 'Returns the text of a record key.';
COMMENT ON FUNCTION bsky.stored_rkey(int4, int4, int8) IS 'Returns the text of a record key from bsky.rkeys. Use bsky.rkey_text.';
COMMENT ON FUNCTION bsky.tid_number(text) IS 'Returns the number of a timestamp identifier. It does not check the form of the text.';
COMMENT ON FUNCTION bsky.tid_text(int8) IS 'Returns the text of a timestamp identifier: of a revision, or of a record key that is not negative.';
COMMENT ON FUNCTION bsky.uri(int4, int4, int8) IS 'Returns the AT-URI of a record; null if its account, collection or key is not known.';

COMMENT ON TABLE skua.cursors IS 'The position in each source: all events up to the cursor are in the tables.';
COMMENT ON COLUMN skua.cursors.cursor IS 'The newest sequence number for which this frame and all earlier frames are durable.';
COMMENT ON COLUMN skua.cursors.saved_at IS 'The time at which the row was last written.';
COMMENT ON COLUMN skua.cursors.source IS 'The kind and the host of the source, such as relay:relay1.us-east.bsky.network. Each host has its own sequence numbers.';

COMMENT ON TABLE skua.tombstones IS 'Recent deletes. They prevent that a repeated create restores a deleted record. They are removed after the saved cursor has passed them.';
COMMENT ON COLUMN skua.tombstones.rkey IS 'The record key of the deleted record, as a number.';
COMMENT ON COLUMN skua.tombstones.seq IS 'The sequence number of the frame that contained the delete.';
COMMENT ON COLUMN skua.tombstones.source IS 'The source whose cursor must pass seq (skua.cursors.source).';

COMMENT ON TABLE skua.identities IS 'The identities of accounts, from their DID documents or from an export of the PLC directory. Skua fetches an identity again if it is older than a day or if a check with it fails.';
COMMENT ON COLUMN skua.identities.did IS 'The DID of the account.';
COMMENT ON COLUMN skua.identities.fetched_at IS 'The time at which the document was fetched, or the export was imported.';
COMMENT ON COLUMN skua.identities.operation_at IS 'The time of the newest operation in the imported export; null: the row is from a document.';
COMMENT ON COLUMN skua.identities.signing_key IS 'The public key of the account''s commits, as a multikey (z...); null: the account has none, or the DID is deactivated.';
COMMENT ON COLUMN skua.identities.pds IS 'The host of the account, such as https://pds.example; null: it has none.';
COMMENT ON COLUMN skua.identities.handle IS 'The claimed handle, which is not verified; null: none.';
COMMENT ON COLUMN skua.identities.label_key IS 'The public key of the account''s labels, as a multikey (z...); null: the account has none, or the row was written before Skua stored this key.';

COMMENT ON TABLE skua.repositories IS 'The head of each verified repository. It is saved with the cursor and is never newer than the rows.';
COMMENT ON COLUMN skua.repositories.did IS 'The DID of the account.';
COMMENT ON COLUMN skua.repositories.rev IS 'The newest verified revision (bsky.tid_text returns its text); null: none yet.';
COMMENT ON COLUMN skua.repositories.data IS 'The root of the tree at rev: the SHA-256 of its CID.';
COMMENT ON COLUMN skua.repositories.state IS 'partial: all commits since the first one that Skua received, without the records before it. complete: all records, and all commits since. desynchronized: a commit is missing, and a resync will download the repository.';
COMMENT ON COLUMN skua.repositories.active IS 'False while the account is taken down or suspended: its commits are then dropped. Commits of deactivated and deleted accounts are verified, but their records are hidden.';
COMMENT ON COLUMN skua.repositories.breaks IS 'The number of commits that did not follow the stored head. Each one means that an earlier commit is missing.';
COMMENT ON COLUMN skua.repositories.broke_at IS 'The time of the last commit that did not follow the stored head.';
COMMENT ON COLUMN skua.repositories.anchor IS 'The newest revision that did not follow the stored head, or the first one that Skua received. No commit after it is missing. Null: none was received.';
COMMENT ON COLUMN skua.repositories.reason IS 'The reason of the resync, if it is not a break of the stream; null: no other reason.';
COMMENT ON COLUMN skua.repositories.next_attempt IS 'The due time of the resync; null: none is requested.';
COMMENT ON COLUMN skua.repositories.attempts IS 'The number of failed resyncs since the last successful one.';
COMMENT ON COLUMN skua.repositories.error IS 'The error of the last resync; null: it did not fail.';

COMMENT ON COLUMN skua.backfill_jobs.bytes IS 'The size of the CAR of the last finished job.';
COMMENT ON COLUMN skua.backfill_jobs.records IS 'The number of records in the last finished job.';
COMMENT ON COLUMN skua.backfill_jobs.created_at IS 'The time of the first request for the repository.';
COMMENT ON COLUMN skua.backfill_jobs.next_attempt IS 'The due time of the next attempt.';
COMMENT ON COLUMN skua.backfill_jobs.lease_until IS 'The end of the lease of a running job. After that another process may lease the job.';
COMMENT ON COLUMN skua.backfill_jobs.finished_at IS 'The time at which the last attempt ended, with or without success.';
COMMENT ON COLUMN skua.backfill_jobs.error IS 'The error of the last attempt, or the reason why the repository is unavailable; null: no error.';
COMMENT ON COLUMN skua.backfill_jobs.lost IS 'The number of leases in succession that ended without a result, because the process ended or did not renew the lease.';
COMMENT ON COLUMN skua.backfill_jobs.retries IS 'The number of times that Skua queued the job again after it was unavailable or failed, since the last request.';
COMMENT ON COLUMN skua.backfill_hosts.next_attempt IS 'The due time of the next page. While a process reads the list: the end of its lease.';
COMMENT ON COLUMN skua.backfill_hosts.updated_at IS 'The time at which a page was last read, or failed.';
COMMENT ON COLUMN skua.backfill_hosts.attempts IS 'The number of failures since the last page.';
COMMENT ON COLUMN skua.backfill_hosts.host IS 'The address of the host, such as https://pds.example.';
COMMENT ON COLUMN skua.backfill_hosts.error IS 'The error of the last page; null: it did not fail.';
COMMENT ON COLUMN skua.backfill_hosts.is_operator_specified IS 'True if the operator named the host, false if only a list contains it. The former may have a private address.';
COMMENT ON COLUMN skua.backfill_hosts.announced IS 'The number of accounts of the host, as the relay states it; null: not stated.';
COMMENT ON COLUMN skua.backfill_hosts.begun_at IS 'The time at which the list was last requested from its first page. If a list of hosts contains the host, this list restarts, provided that it has ended and that it began before the list of hosts.';
COMMENT ON COLUMN skua.dropped_indexes.dropped_at IS 'The time at which the index was dropped.';
COMMENT ON COLUMN skua.dropped_indexes.name IS 'The name of the index, with its schema.';
COMMENT ON COLUMN skua.dropped_indexes.relation IS 'The name of the table, with its schema.';

COMMENT ON TABLE skua.filter IS 'The filter. If it has no row of a kind, everything of that kind is stored. You may change it: the change applies when it commits.';
COMMENT ON COLUMN skua.filter.kind IS 'collection: only records of these collections are stored. did: only events of these accounts are read.';
COMMENT ON COLUMN skua.filter.value IS 'A collection such as app.bsky.feed.post, a prefix of collections such as app.bsky.graph.*, or a DID.';
COMMENT ON TABLE skua.filter_changes IS 'A counter whose trigger updates skua.filter_state when a transaction that changed skua.filter commits.';
COMMENT ON COLUMN skua.filter_changes.changes IS 'The number of statements so far that changed skua.filter.';
COMMENT ON COLUMN skua.filter_changes.only_row IS 'Ensures that the table has one row.';
COMMENT ON TABLE skua.filter_state IS 'The filter in one row, with the number of its last change. Processes read it. It is written when a change of skua.filter commits.';
COMMENT ON COLUMN skua.filter_state.version IS 'The number of the last change.';
COMMENT ON COLUMN skua.filter_state.widened IS 'The number of the last change that added collections; 0: none did. A repository that was requested before this change is not complete.';
COMMENT ON COLUMN skua.filter_state.widened_at IS 'The time of the change in widened. Processes read the filter every second, so a request within 10 seconds after this time counts as one before it.';
COMMENT ON COLUMN skua.filter_state.changed_at IS 'The time of the last change.';
COMMENT ON COLUMN skua.filter_state.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.filter_state.collections IS 'The collections in skua.filter, sorted.';
COMMENT ON COLUMN skua.filter_state.dids IS 'The DIDs in skua.filter, sorted.';
COMMENT ON COLUMN skua.filter_state.resync_from IS 'The progress of the resyncs after a change that added collections: complete repositories from this DID on will become desynchronized. Null: no resync is pending.';

COMMENT ON TABLE skua.migrations IS 'The migrations that were applied to this database.';
COMMENT ON COLUMN skua.migrations.applied_at IS 'The time at which the migration was applied.';
COMMENT ON COLUMN skua.migrations.name IS 'The name of the file, without its number and extension.';
COMMENT ON COLUMN skua.migrations.checksum IS 'SHA-256 of the file, in hex. A file must not change after it was applied.';
COMMENT ON COLUMN skua.metrics.at IS 'The time at which the metrics were read.';
COMMENT ON COLUMN skua.metrics.source IS 'The source, as in skua.cursors; or backfill.';
COMMENT ON COLUMN skua.lock_secret.secret IS '16 random bytes, generated once.';
COMMENT ON COLUMN skua.database_token.token IS 'A random token, generated once.';
COMMENT ON COLUMN skua.change_log.at IS 'The time at which the block was appended, by the server''s clock.';
DO $$
DECLARE
  part regclass;
BEGIN
  -- A partition has copies of the comments.
  FOR part IN SELECT i.inhrelid::regclass FROM pg_inherits AS i WHERE i.inhparent = 'skua.change_log'::regclass LOOP
    EXECUTE format('COMMENT ON COLUMN %s.at IS %L', part, col_description('skua.change_log'::regclass, 2));
  END LOOP;
END
$$;
COMMENT ON COLUMN skua.change_log_state.timeline IS 'The number of the history of the log. It rises after a failover and after a restore, which may have lost the last changes. The same position can stand for different changes in different timelines.';
COMMENT ON COLUMN skua.change_log_state.since IS 'The time at which this timeline began.';
COMMENT ON COLUMN skua.change_log_state.retention IS 'The age up to which changes are kept. You may change it: it applies within a minute.';

COMMENT ON FUNCTION skua.is_logging_changes() IS 'Returns true if this transaction must append its changes to the change log, and false during a bootstrap. The result is valid until the end of the transaction.';
COMMENT ON FUNCTION skua.change_log_end() IS 'Returns the position of the next change.';
COMMENT ON FUNCTION skua.append_changes(int2[], int2[], int4[], int4[], int8[], int8[], bytea[], text[], int4[], int2[], int2[], int4[], int4[], int8[]) IS 'Appends one block to the change log and returns its position. A transaction calls skua.is_logging_changes first, and this function in its last statement.';
COMMENT ON FUNCTION skua.changes(int8, int4) IS 'Returns the changes from a position on, one per row, of at most max_blocks blocks.';
COMMENT ON FUNCTION skua.change_references(int8, int4) IS 'Returns the references that these changes add (delta 1) or remove (-1), one per row. Delta 0: another record of the account has the same reference.';
COMMENT ON FUNCTION skua.charge_handle_lookup(timestamptz, timestamptz) IS 'Returns the value of bsky.actors.handle_lookups_charged_to after one more look-up.';
COMMENT ON FUNCTION skua.handle_lookup_due(timestamptz, timestamptz) IS 'Returns the earliest time of a look-up, for a value of bsky.actors.handle_lookups_charged_to.';
COMMENT ON FUNCTION skua.collections_are_wider(text[], text[]) IS 'Returns true if the second filter of collections stores a collection that the first one does not store.';
COMMENT ON FUNCTION skua.filter_changed() IS 'Trigger of skua.filter: makes the change apply when it commits.';
COMMENT ON FUNCTION skua.apply_filter() IS 'Trigger of skua.filter_changes at the commit: if skua.filter has changed, raises the version, and makes complete repositories desynchronized if the change added collections.';
COMMENT ON FUNCTION skua.resync_for_filter(int8) IS 'Makes some complete repositories desynchronized after a change of the filter that added collections. Returns true if more repositories are left. skua run calls it, each time in a transaction of its own, until it returns false.';
COMMENT ON FUNCTION skua.widen_filter() IS 'Repeats the consequences of a change that added collections, for a process that noticed the change too late.';
COMMENT ON FUNCTION skua.grant_reader() IS 'Grants the role skua_reader its privileges. Run it again after creating the role.';

COMMENT ON COLUMN skua.dead_letter.created_at IS 'The time of the first rejection.';
COMMENT ON COLUMN skua.dead_letter.last_at IS 'The time of the last rejection.';
COMMENT ON COLUMN skua.dead_letter.attempts IS 'The number of rejections with different results. A repetition does not count.';
COMMENT ON COLUMN skua.dead_letter.did IS 'The account of the input; empty if it is not known. An account has at most 1,000 dead letters.';
