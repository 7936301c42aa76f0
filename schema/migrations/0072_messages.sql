-- Own messages of users: skua.enqueue writes to the inbox, and a sequencer moves committed messages to the change log.

CREATE TABLE skua.message_inbox (
  id          int8        NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  key_number  int8        NOT NULL,
  bytes       int4        NOT NULL,
  topic       text        NOT NULL,
  key         text        NOT NULL,
  payload     jsonb       NOT NULL,
  headers     jsonb       NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
COMMENT ON TABLE skua.message_inbox IS 'Own messages that are not in the change log yet. `skua.enqueue` writes them in the transaction of the user. `skua run` and `skua serve` move them to `skua.messages` and `skua.change_log` after its commit.';
COMMENT ON COLUMN skua.message_inbox.id IS 'The number of the message. Messages of one key are committed in the order of their numbers.';
COMMENT ON COLUMN skua.message_inbox.enqueued_at IS 'The time of the call of skua.enqueue, by the server''s clock.';
COMMENT ON COLUMN skua.message_inbox.key_number IS 'The number that stands for topic and key in skua.change_log.actor_id (skua.message_key_number). It is negative, and numbers of accounts are positive.';
COMMENT ON COLUMN skua.message_inbox.bytes IS 'The size of topic, key, payload and headers as text.';
COMMENT ON COLUMN skua.message_inbox.topic IS 'The topic, by which consumers choose messages.';
COMMENT ON COLUMN skua.message_inbox.key IS 'The key. Consumers get the messages of a topic and key in the order of their commits.';
COMMENT ON COLUMN skua.message_inbox.payload IS 'The content, any JSON.';
COMMENT ON COLUMN skua.message_inbox.headers IS 'A JSON object beside the content, such as a trace id.';

-- The size of the inbox is the difference between two sequences, because a count would read it for each message.
CREATE SEQUENCE skua.message_moved;
COMMENT ON SEQUENCE skua.message_moved IS 'The last message number for which the inbox was drained: the numbers up to it are in the change log, were rolled back, or belong to transactions that were open at that time.';

CREATE TABLE skua.messages (
  pos         int8        NOT NULL,
  id          int8        NOT NULL,
  enqueued_at timestamptz NOT NULL,
  key_number  int8        NOT NULL,
  bytes       int4        NOT NULL,
  topic       text        NOT NULL,
  key         text        NOT NULL,
  payload     jsonb       NOT NULL,
  headers     jsonb       NOT NULL,
  PRIMARY KEY (pos)
) PARTITION BY RANGE (pos);
COMMENT ON TABLE skua.messages IS 'The own messages in the change log, with their content. They are kept as long as their changes: the partitions have the same positions.';
COMMENT ON COLUMN skua.messages.pos IS 'The position in the change log.';
COMMENT ON COLUMN skua.messages.id IS 'The number that skua.enqueue returned.';
COMMENT ON COLUMN skua.messages.enqueued_at IS 'The time of the call of skua.enqueue, by the server''s clock.';
COMMENT ON COLUMN skua.messages.key_number IS 'The number that stands for topic and key in skua.change_log.actor_id.';
COMMENT ON COLUMN skua.messages.bytes IS 'The size of topic, key, payload and headers as text.';
COMMENT ON COLUMN skua.messages.topic IS 'The topic, by which consumers choose messages.';
COMMENT ON COLUMN skua.messages.key IS 'The key. Consumers get the messages of a topic and key in the order of their commits.';
COMMENT ON COLUMN skua.messages.payload IS 'The content, any JSON.';
COMMENT ON COLUMN skua.messages.headers IS 'A JSON object beside the content, such as a trace id.';

CREATE TABLE skua.message_limits (
  only_row             boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  message_bytes        int4    NOT NULL DEFAULT 61440 CHECK (message_bytes BETWEEN 1 AND 1048576),
  transaction_messages int4    NOT NULL DEFAULT 500 CHECK (transaction_messages > 0),
  inbox_messages       int8    NOT NULL DEFAULT 1000000 CHECK (inbox_messages > 0)
);
INSERT INTO skua.message_limits DEFAULT VALUES;
COMMENT ON TABLE skua.message_limits IS 'The limits of own messages. You may change them: they apply at once. The process that moves messages to the change log locks this table, so that there is one at a time.';
COMMENT ON COLUMN skua.message_limits.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.message_limits.message_bytes IS 'The maximum size of topic, key, payload and headers of a message, at most 1 MiB.';
COMMENT ON COLUMN skua.message_limits.transaction_messages IS 'The maximum number of messages of one transaction. Each key costs the transaction an advisory lock, and the server has a limited number of locks.';
COMMENT ON COLUMN skua.message_limits.inbox_messages IS 'The maximum number of messages that wait in the inbox.';

-- Each partition of the change log has one for messages.
DO $$
DECLARE
  number int8;
BEGIN
  FOR number IN
    SELECT substring(c.relname FROM '^change_log_([0-9]+)$')::int8
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'skua.change_log'::regclass ORDER BY 1
  LOOP
    EXECUTE format('CREATE TABLE skua.messages_%s (LIKE skua.messages INCLUDING COMMENTS)', number);
    EXECUTE format('COMMENT ON TABLE skua.messages_%s IS %L', number,
                   'Own messages with positions from ' || (number << 24) || ' on.');
    EXECUTE format('ALTER TABLE skua.messages ATTACH PARTITION skua.messages_%s FOR VALUES FROM (%s) TO (%s)',
                   number, number << 24, (number + 1) << 24);
  END LOOP;
END
$$;

COMMENT ON COLUMN skua.change_log.kind IS '1: a record. 2: the hosting status of an account. 3: the handle of an account. 4: a label. 5: the end of a bootstrap, whose records are not in the log. 6: whether a post breaks rules (bsky.post_rules). 7: an own message (skua.messages).';
COMMENT ON COLUMN skua.change_log.actor_id IS 'The account (bsky.actors.id); of a label its labeler; 0 at the end of a bootstrap; of a message a negative number that stands for its topic and key. Lanes and policies treat a key as an account.';
COMMENT ON COLUMN skua.change_log.rkey IS 'The key of the record, as a number; of a message its number (skua.messages.id); otherwise 0.';
COMMENT ON COLUMN skua.change_log.val IS 'The values of labels, and the topics of messages; null if the block has neither.';
COMMENT ON COLUMN skua.consumers.filter IS 'The changes that a leased consumer reads: collections, dids, ops, kinds and topics, each a list. An absent list: all, and without kinds and topics no messages.';
COMMENT ON COLUMN skua.dead_letter.did IS 'The account that the letter concerns; of an own message the text message: and a number that stands for its topic and key; empty: unknown. An account has at most 1,000 letters.';
COMMENT ON COLUMN skua.dead_letter.actor_id IS 'Of a consumer''s letter: the account of the change (bsky.actors.id), or the key of a message, as in skua.change_log.actor_id.';
COMMENT ON COLUMN skua.waiting_changes.actor_id IS 'The account (bsky.actors.id), or the key of messages as in skua.change_log.actor_id.';
-- Partitions keep the comments of the time at which they were created.
DO $$
DECLARE
  place record;
BEGIN
  FOR place IN
    SELECT i.inhrelid::regclass AS part, a.attname AS name, col_description(a.attrelid, a.attnum) AS comment
    FROM pg_inherits AS i JOIN pg_attribute AS a ON a.attrelid = i.inhparent AND a.attnum > 0
    WHERE i.inhparent = 'skua.change_log'::regclass AND a.attname IN ('kind', 'actor_id', 'rkey', 'val')
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', place.part, place.name, place.comment);
  END LOOP;
END
$$;
