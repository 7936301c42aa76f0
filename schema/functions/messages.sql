-- Own messages: skua.enqueue writes to the inbox, skua.sequence_messages moves messages to the change log.
--
-- skua.enqueue does not append to the change log itself: it would hold the lock of the log until the transaction of the user
-- ends, and an open transaction would stop all writers. It holds an advisory lock of topic and key instead, in the space of two
-- numbers: (1936422148, the lower half of the key's number). A transaction gets a message number while it holds this lock, so the
-- numbers of a key have the order of the commits.

-- The collation "C" makes the hash one of the bytes. If two keys have the same number, they share an order, a lane and the
-- consequences of a failed message, and nothing else.
CREATE OR REPLACE FUNCTION skua.message_key_number(topic text, key text) RETURNS int8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT -1 - (hashtextextended(key COLLATE "C", hashtextextended(topic COLLATE "C", 0)) & 4611686018427387903)
$$;
COMMENT ON FUNCTION skua.message_key_number(text, text) IS 'The number that stands for a topic and key in skua.change_log.actor_id: a negative hash.';

CREATE OR REPLACE FUNCTION skua.enqueue(topic text, key text, payload jsonb, headers jsonb DEFAULT '{}') RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  limits     record;
  size       int8;
  nth        int4;
  number     int8;
  message_id int8;
BEGIN
  IF topic IS NULL OR key IS NULL OR payload IS NULL OR headers IS NULL THEN
    RAISE EXCEPTION 'topic, key, payload and headers of a message must not be null' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'A payload without content is ''null''::jsonb, and no headers are ''{}''.';
  END IF;
  IF topic !~ '^[a-z][a-z0-9_.-]{0,99}$' THEN
    RAISE EXCEPTION 'the topic of a message is malformed: %', quote_literal(left(topic, 100))
      USING ERRCODE = 'invalid_parameter_value',
      HINT = 'A topic has up to 100 lower-case letters, digits, and the characters _ . - and begins with a letter.';
  END IF;
  IF octet_length(key) NOT BETWEEN 1 AND 512 THEN
    RAISE EXCEPTION 'the key of a message has % bytes', octet_length(key) USING ERRCODE = 'invalid_parameter_value',
      HINT = 'A key has 1 to 512 bytes, such as the number of an order. Messages of one key keep their order.';
  END IF;
  IF jsonb_typeof(headers) <> 'object' THEN
    RAISE EXCEPTION 'the headers of a message are not a JSON object' USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Headers are an object such as {"trace": "4711"}; no headers are ''{}''.';
  END IF;

  SELECT l.message_bytes, l.transaction_messages, l.inbox_messages, i.last_value - m.last_value AS waiting
  INTO STRICT limits
  FROM skua.message_limits AS l, skua.message_inbox_id_seq AS i, skua.message_moved AS m;
  size := octet_length(topic) + octet_length(key) + octet_length(payload::text) + octet_length(headers::text);
  IF size > limits.message_bytes THEN
    RAISE EXCEPTION 'the message has % bytes, more than %', size, limits.message_bytes
      USING ERRCODE = 'program_limit_exceeded',
      HINT = 'Store the content elsewhere and enqueue its address, or increase skua.message_limits.message_bytes.';
  END IF;
  -- A setting that ends with the transaction, or with the savepoint, counts the messages. It guards against mistakes: a user can
  -- change it.
  nth := coalesce(substring(current_setting('skua.transaction_messages', true) FROM '^[0-9]{1,9}$')::int4, 0) + 1;
  IF nth > limits.transaction_messages THEN
    RAISE EXCEPTION 'the transaction has enqueued % messages already', nth - 1 USING ERRCODE = 'program_limit_exceeded',
      HINT = 'Enqueue the messages in several transactions, or increase skua.message_limits.transaction_messages.';
  END IF;
  PERFORM set_config('skua.transaction_messages', nth::text, true);
  IF limits.waiting >= limits.inbox_messages THEN
    RAISE EXCEPTION 'the inbox is full: % messages wait', limits.waiting USING ERRCODE = 'configuration_limit_exceeded',
      HINT = 'Start `skua run` or `skua serve`, which moves messages to the change log, or end the bootstrap that is open. '
        'Otherwise increase skua.message_limits.inbox_messages.';
  END IF;

  number := skua.message_key_number(topic, key);
  PERFORM pg_advisory_xact_lock(1936422148, (number << 32 >> 32)::int4);
  -- The transaction has an id before its message has a number. The sequencer (message_sequencer.cpp) depends on this order.
  PERFORM pg_current_xact_id();
  INSERT INTO skua.message_inbox (key_number, bytes, topic, key, payload, headers)
  VALUES (number, size, topic, key, payload, headers)
  RETURNING id INTO message_id;
  RETURN message_id;
END
$$;
COMMENT ON FUNCTION skua.enqueue(text, text, jsonb, jsonb) IS 'Enqueues an own message in the transaction of the caller, and returns its number. After the commit consumers get it, and the messages of its topic and key in the order of the commits. Another transaction that enqueues the same topic and key waits until this one ends. Errors: 22004 and 22023, a wrong argument; 54000, a limit of the message or transaction; 53400, the inbox is full.';
REVOKE EXECUTE ON FUNCTION skua.enqueue(text, text, jsonb, jsonb) FROM PUBLIC;

-- One session at a time moves messages. If there were two, one could skip a message that the other one is moving, and move a
-- later message of the same key before it.
CREATE OR REPLACE FUNCTION skua.sequence_messages(after int8, max_messages int4, max_bytes int8) RETURNS int4
LANGUAGE plpgsql AS $$
DECLARE
  newest      int8;
  is_drained  boolean;
  moved       int4;
  ids         int8[];
  times       timestamptz[];
  numbers     int8[];
  sizes       int4[];
  topics      text[];
  keys        text[];
  payloads    jsonb[];
  all_headers jsonb[];
  first       int8;
BEGIN
  BEGIN
    -- A role that may only read cannot take this lock.
    LOCK TABLE skua.message_limits IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
  EXCEPTION WHEN lock_not_available THEN
    RETURN NULL;
  END;
  IF NOT skua.is_logging_changes() THEN
    RETURN NULL;
  END IF;
  newest := (SELECT s.last_value FROM skua.message_inbox_id_seq AS s);
  -- The first messages by number. Those of transactions that are open are not visible, and follow later.
  WITH next AS MATERIALIZED (
    SELECT i.id, sum(i.bytes) OVER (ORDER BY i.id) - i.bytes AS bytes_before
    FROM (SELECT n.id, n.bytes FROM skua.message_inbox AS n WHERE n.id > after ORDER BY n.id LIMIT max_messages) AS i
  ),
  gone AS (
    DELETE FROM skua.message_inbox AS i USING next AS n WHERE i.id = n.id AND n.bytes_before < max_bytes
    RETURNING i.*
  )
  SELECT count(*), array_agg(g.id ORDER BY g.id), array_agg(g.enqueued_at ORDER BY g.id), array_agg(g.key_number ORDER BY g.id),
    array_agg(g.bytes ORDER BY g.id), array_agg(g.topic ORDER BY g.id), array_agg(g.key ORDER BY g.id),
    array_agg(g.payload ORDER BY g.id), array_agg(g.headers ORDER BY g.id),
    count(*) = (SELECT count(*) FROM next) AND count(*) < max_messages
  INTO moved, ids, times, numbers, sizes, topics, keys, payloads, all_headers, is_drained
  FROM gone AS g;
  -- A rollback does not undo this. Then the inbox seems smaller than it is, until the next call.
  PERFORM setval('skua.message_moved', m.next)
  FROM (SELECT s.last_value, CASE WHEN is_drained THEN newest ELSE ids[moved] END AS next FROM skua.message_moved AS s) AS m
  WHERE m.next > m.last_value;
  IF moved = 0 THEN
    RETURN 0;
  END IF;
  -- The positions are known as soon as this session holds the lock of the log.
  LOCK TABLE skua.change_log_state IN SHARE UPDATE EXCLUSIVE MODE;
  first := skua.change_log_end();
  PERFORM skua.make_change_log_partition(first >> 24), skua.make_change_log_partition((first + moved - 1) >> 24);
  INSERT INTO skua.messages (pos, id, enqueued_at, key_number, bytes, topic, key, payload, headers)
  SELECT first + m.place - 1, m.id, m.enqueued_at, m.key_number, m.bytes, m.topic, m.key, m.payload, m.headers
  FROM unnest(ids, times, numbers, sizes, topics, keys, payloads, all_headers) WITH ORDINALITY
    AS m(id, enqueued_at, key_number, bytes, topic, key, payload, headers, place);
  PERFORM skua.append_changes(
    array_fill(7::int2, ARRAY[moved]), array_fill(1::int2, ARRAY[moved]), numbers, array_fill(0, ARRAY[moved]), ids,
    array_fill(0::int8, ARRAY[moved]), array_fill(NULL::bytea, ARRAY[moved]), topics, '{}', '{}', '{}', '{}', '{}', '{}');
  RETURN moved;
END
$$;
COMMENT ON FUNCTION skua.sequence_messages(int8, int4, int8) IS 'Moves committed messages with numbers above the first argument from the inbox to the change log, in the order of their numbers, and returns how many: at most max_messages, with about max_bytes. Null: another session moves messages now, or a bootstrap is open, during which messages wait. 0: no message waits.';
