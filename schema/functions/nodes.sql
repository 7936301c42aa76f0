-- The tables of a query database (ADR 20). A table that the nodes divide is partitioned by account number. Each range of groups
-- that a node owns is one partition: a foreign table, which reads a view of the node in the schema node_ranges. Migrations of a
-- query database call these functions, so this file stands before them in schema/order.txt.

CREATE OR REPLACE FUNCTION skua.is_query_database() RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT relkind = 'p' FROM pg_class WHERE oid = 'bsky.posts'::regclass
$$;
COMMENT ON FUNCTION skua.is_query_database() IS 'True if the tables of this database read the nodes of a network, and false if they have rows of their own.';

CREATE OR REPLACE FUNCTION skua.group_ranges(groups int4[]) RETURNS TABLE (first_group int4, last_group int4)
LANGUAGE sql IMMUTABLE AS $$
  SELECT min(n.g), max(n.g)
  FROM (SELECT g, g - row_number() OVER (ORDER BY g)::int4 AS range FROM unnest(groups) AS g) AS n
  GROUP BY n.range ORDER BY 1
$$;
COMMENT ON FUNCTION skua.group_ranges(int4[]) IS 'The ranges of consecutive groups in a set of groups.';

-- The shift is a parameter, so that the conditions of the views are constants.
CREATE OR REPLACE FUNCTION skua.group_bound(account_group int4, group_shift int4) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN account_group = 64 THEN 'MAXVALUE' ELSE (account_group::int8 << group_shift)::text END
$$;
COMMENT ON FUNCTION skua.group_bound(int4, int4) IS 'The first account number of a group, as the bound of a partition. 64 is the end of the last group.';

CREATE OR REPLACE FUNCTION skua.divided_tables() RETURNS TABLE (name text, key_column text)
LANGUAGE sql STABLE AS $$
  SELECT r.name, 'actor_id' FROM skua.record_tables AS r
  UNION ALL VALUES ('records', 'actor_id'), ('labels', 'actor_id'), ('rkeys', 'actor_id'), ('actors', 'id')
$$;
COMMENT ON FUNCTION skua.divided_tables() IS 'The tables of bsky that the nodes divide, and the column with the account number.';

CREATE OR REPLACE FUNCTION skua.shared_tables() RETURNS TABLE (name text)
LANGUAGE sql IMMUTABLE AS $$
  VALUES ('identities'), ('repositories')
$$;
COMMENT ON FUNCTION skua.shared_tables() IS 'The tables of skua that views and questions read and whose rows belong to the account of the column did. In a query database they have the tables of the nodes as children.';

-- Records of one account, such as its likes, are on one node. Each node counts its own, so the sum over the nodes is the number. A
-- notification follows from its record. Whether a post breaks rules depends on records of several nodes, so it is computed.
--
-- A projection that stores more than sums, such as the counted tags of each post, does not learn which records groups brought
-- with them. It is wrong from the end of a move until both nodes have built it again.
CREATE OR REPLACE FUNCTION skua.network_projections() RETURNS TABLE (name text, form text, key_columns text[], stores_only_sums boolean)
LANGUAGE sql IMMUTABLE AS $$
  VALUES ('post_stats', 'sum', '{actor_id,rkey}'::text[], true), ('actor_stats', 'sum', '{actor_id}', true),
    ('tag_trends', 'sum', '{hour,tag}', false), ('notifications', 'rows', NULL, false), ('post_rules', 'computed', NULL, false)
$$;
COMMENT ON FUNCTION skua.network_projections() IS 'The projections of a query database. sum: the sum over the nodes of the columns that are not in the key. rows: the rows of all nodes. computed: the query database computes it, and the nodes have none. stores_only_sums: the tables of a node have nothing but the sums.';

-- postgres_fdw sends no condition on LEAST or COALESCE to a node, so that a question would read the whole table. Nodes have an index on
-- the first expression, and `skua index add names` makes one on the second. A subquery about an account would ask all nodes for each account,
-- and no function of Skua is sent to a node.
-- for_query_database() in libs/database/postgres/query_database.cpp writes the columns in place of the expressions.
CREATE OR REPLACE FUNCTION skua.computed_column(table_name text)
RETURNS TABLE (name text, type text, expression text, help text)
LANGUAGE sql STABLE AS $$
  SELECT c.name, c.type, c.expression, c.help FROM (VALUES
    ('sort_at', 'timestamptz', 'least(t.created_at, t.indexed_at)', 'The earlier one of created_at and indexed_at.', '{created_at,indexed_at}'::text[]),
    ('handle_or_did', 'text', 'coalesce(t.handle, t.did)', 'The handle, or the DID of an account without one.', '{handle,did}'),
    ('account_created_at', 'timestamptz', '(SELECT i.created_at FROM skua.identities AS i WHERE i.did = t.did)',
     'The time at which the DID was registered, if it is known.', '{handle,did}'),
    ('record_links', 'text[]', 'bsky.record_links(t.record)', 'The first 1,000 AT-URIs and DIDs in the record.', '{record,collection_id}')
  ) AS c(name, type, expression, help, columns)
  WHERE (SELECT count(*) FROM pg_attribute AS a
         WHERE a.attrelid = format('bsky.%I', computed_column.table_name)::regclass AND a.attname = ANY (c.columns)) = 2
$$;
COMMENT ON FUNCTION skua.computed_column(text) IS 'The columns that a table of a query database has and those of the nodes do not: they compute them.';

-- On a node.

CREATE OR REPLACE FUNCTION skua.hide_ranges() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DROP SCHEMA IF EXISTS node_ranges CASCADE;
END
$$;
COMMENT ON FUNCTION skua.hide_ranges() IS 'Drops the views that a query database reads.';
REVOKE EXECUTE ON FUNCTION skua.hide_ranges() FROM PUBLIC;

-- A reference without a CID names the first version of its post. The node that has the reference knows this version, also if the
-- post belongs to another node. The computed column costs nothing if a query does not read it.
CREATE OR REPLACE FUNCTION skua.range_columns(table_name text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT string_agg(CASE WHEN r.attname IS NULL THEN format('t.%I', a.attname)
    ELSE format('coalesce(t.%I, CASE WHEN %s = 1 THEN (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts AS p '
                'WHERE p.actor_id = t.%I AND p.rkey = t.%I) END) AS %1$I',
                a.attname, coalesce('t.' || c.attname, f.collection_id::text, CASE WHEN range_columns.table_name = 'posts' THEN '1' ELSE '0' END),
                s.stem || '_actor', s.stem || '_rkey') END, ', ' ORDER BY a.attnum)
  FROM pg_attribute AS a
  CROSS JOIN LATERAL (SELECT regexp_replace(a.attname, '_cid$', '') AS stem) AS s
  LEFT JOIN pg_attribute AS r ON r.attrelid = a.attrelid AND a.attname LIKE '%\_cid' AND r.attname = s.stem || '_rkey'
  LEFT JOIN pg_attribute AS c ON c.attrelid = a.attrelid AND a.attname LIKE '%\_cid' AND c.attname = s.stem || '_collection'
  LEFT JOIN skua.record_fields AS f ON f.table_name = range_columns.table_name AND f.column_name = s.stem
  WHERE a.attrelid = format('bsky.%I', range_columns.table_name)::regclass AND a.attnum > 0 AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION skua.range_columns(text) IS 'The columns of a view of a range: those of the table, with the CID of each reference.';

-- While groups move away, the query database reads the former ranges until it reads the groups from the other node.
CREATE OR REPLACE FUNCTION skua.shown_ranges() RETURNS TABLE (first_group int4, last_group int4)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT r.first_group, r.last_group
  FROM (
    SELECT owned FROM skua.account_groups
    UNION ALL
    SELECT ARRAY(SELECT unnest(g.owned || m.groups) ORDER BY 1) FROM skua.account_groups AS g, skua.group_moves AS m
    WHERE m.phase = 'leave'
  ) AS s
  CROSS JOIN LATERAL skua.group_ranges(s.owned) AS r
  GROUP BY 1, 2;
END
$$;
COMMENT ON FUNCTION skua.shown_ranges() IS 'The ranges of groups for which a node has views.';

CREATE OR REPLACE FUNCTION skua.add_ranges() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  groups record;
  part record;
  projection text;
BEGIN
  SELECT * INTO STRICT groups FROM skua.account_groups;
  CREATE SCHEMA IF NOT EXISTS node_ranges;
  COMMENT ON SCHEMA node_ranges IS 'What a query database reads: the rows of the accounts that this node owns, with a view for each table and each range of groups.';
  FOR part IN
    SELECT t.name, t.key_column, r.first_group, r.last_group FROM skua.divided_tables() AS t, skua.shown_ranges() AS r
  LOOP
    EXECUTE format('CREATE OR REPLACE VIEW node_ranges.%I AS SELECT %s%s FROM bsky.%I AS t WHERE t.%I >= %s%s',
      format('%s_%s_%s', part.name, part.first_group, part.last_group), skua.range_columns(part.name),
      coalesce((SELECT string_agg(format(', %s AS %I', c.expression, c.name), '' ORDER BY c.name) FROM skua.computed_column(part.name) AS c), ''),
      part.name, part.key_column, skua.group_bound(part.first_group, groups.group_shift),
      CASE WHEN part.last_group = 63 THEN ''
        ELSE format(' AND t.%I < %s', part.key_column, skua.group_bound(part.last_group + 1, groups.group_shift)) END);
  END LOOP;
  FOR part IN SELECT t.name, r.first_group, r.last_group FROM skua.shared_tables() AS t, skua.shown_ranges() AS r LOOP
    EXECUTE format('CREATE OR REPLACE VIEW node_ranges.%I AS SELECT * FROM skua.%I AS t WHERE bsky.account_group(t.did) BETWEEN %s AND %s',
      format('%s_%s_%s', part.name, part.first_group, part.last_group), part.name, part.first_group, part.last_group);
  END LOOP;
  FOR projection IN SELECT name FROM skua.network_projections() WHERE form = 'sum' LOOP
    EXECUTE format('CREATE OR REPLACE VIEW node_ranges.%I AS SELECT * FROM bsky.%1$I', projection);
  END LOOP;
  CREATE OR REPLACE VIEW node_ranges.notifications AS
  SELECT n.* FROM bsky.notifications AS n
  WHERE n.reason = 8 OR (n.actor_id >> 57)::int4 = ANY ((
    SELECT array_agg(g) FROM skua.shown_ranges() AS r CROSS JOIN generate_series(r.first_group, r.last_group) AS g)::int4[]);
  CREATE OR REPLACE VIEW node_ranges.projections AS
  SELECT p.name, c.lag, b.counted_moves, b.built_during_move, b.version
  FROM (SELECT n.name FROM skua.network_projections() AS n UNION SELECT a.name FROM skua.projections AS a) AS p
  CROSS JOIN LATERAL skua.consumer_progress(p.name) AS c
  CROSS JOIN LATERAL (
    SELECT l.counted_moves, l.built_during_move, k.version
    FROM skua.consumers AS k JOIN skua.consumer_lanes AS l ON l.consumer_id = k.id
    WHERE k.name = p.name AND k.role = 'live' LIMIT 1
  ) AS b;
  CREATE OR REPLACE VIEW node_ranges.indexes AS
  SELECT c.relname AS name FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'bsky'::regnamespace AND i.indisvalid;
  CREATE OR REPLACE VIEW node_ranges.collections AS SELECT id, nsid FROM bsky.collections;
  CREATE OR REPLACE VIEW node_ranges.state AS
  SELECT (SELECT max(event_time) FROM skua.cursors WHERE source NOT LIKE 'labeler:%' AND event_time > 'epoch') AS read_up_to,
    EXISTS (SELECT FROM skua.mentioned_accounts)
      -- Some replies wait nearly always, for a second.
      OR (SELECT count(*) = 1000 OR count(*) > count(w.distance) FROM (SELECT r.distance FROM skua.waiting_references AS r LIMIT 1000) AS w) AS has_waiting,
    EXISTS (SELECT FROM skua.filter) AS has_filter,
    (SELECT string_agg(format('%s for %s', collection, keep), ', ' ORDER BY collection) FROM skua.retention) AS kept;
END
$$;
COMMENT ON FUNCTION skua.add_ranges() IS 'Makes the views that a query database reads and that do not exist yet.';
REVOKE EXECUTE ON FUNCTION skua.add_ranges() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.show_ranges() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM skua.hide_ranges();
  PERFORM skua.add_ranges();
END
$$;
COMMENT ON FUNCTION skua.show_ranges() IS 'Makes the views that a query database reads, for the groups that this node owns.';
REVOKE EXECUTE ON FUNCTION skua.show_ranges() FROM PUBLIC;

-- In a query database.

CREATE OR REPLACE FUNCTION skua.disconnect_tables() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT ftrelid::regclass FROM pg_foreign_table AS f JOIN pg_class AS c ON c.oid = f.ftrelid
    WHERE c.relnamespace IN (to_regnamespace('node_tables'), to_regnamespace('node_projections'))
  LOOP
    EXECUTE format('DROP FOREIGN TABLE %s', part);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.disconnect_tables() IS 'Drops the parts of all tables that read the nodes.';
REVOKE EXECUTE ON FUNCTION skua.disconnect_tables() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.add_computed_column(table_name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  computed record;
BEGIN
  FOR computed IN SELECT * FROM skua.computed_column(table_name) LOOP
    EXECUTE format('ALTER TABLE bsky.%I ADD COLUMN IF NOT EXISTS %I %s', table_name, computed.name, computed.type);
    EXECUTE format('COMMENT ON COLUMN bsky.%I.%I IS %L', table_name, computed.name, computed.help || ' Only a query database has this column.');
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.add_computed_column(text) IS 'Adds the columns that a table of a query database has and those of the nodes do not.';
REVOKE EXECUTE ON FUNCTION skua.add_computed_column(text) FROM PUBLIC;

-- A role that does not own the database sets them for itself only. A dump does not have the settings.
CREATE OR REPLACE FUNCTION skua.join_on_nodes() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  setting text;
BEGIN
  FOREACH setting IN ARRAY ARRAY['enable_partitionwise_join', 'enable_partitionwise_aggregate'] LOOP
    -- Two sessions cannot make the same setting at the same time.
    CONTINUE WHEN EXISTS (
      SELECT FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = s.setdatabase
      WHERE d.datname = current_database() AND s.setrole IN (0, current_user::regrole) AND setting || '=on' = ANY (s.setconfig));
    BEGIN
      EXECUTE format('ALTER DATABASE %I SET %I = on', current_database(), setting);
    EXCEPTION WHEN insufficient_privilege THEN
      EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET %I = on', current_database(), setting);
    END;
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.join_on_nodes() IS 'Lets PostgreSQL send joins and aggregates of the rows of the same accounts to the nodes, in new sessions with this query database.';
REVOKE EXECUTE ON FUNCTION skua.join_on_nodes() FROM PUBLIC;

-- `skua migrate` creates the views and functions again that are dropped with a table.
CREATE OR REPLACE FUNCTION skua.divide_tables() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  item record;
BEGIN
  FOR item IN
    SELECT t.name, t.key_column, c.oid FROM skua.divided_tables() AS t
    JOIN pg_class AS c ON c.oid = format('bsky.%I', t.name)::regclass WHERE c.relkind = 'r'
  LOOP
    EXECUTE format('CREATE TABLE bsky.divided (LIKE bsky.%I INCLUDING COMMENTS INCLUDING DEFAULTS) PARTITION BY RANGE (%I)',
                   item.name, item.key_column);
    EXECUTE format('COMMENT ON TABLE bsky.divided IS %L', obj_description(item.oid, 'pg_class'));
    EXECUTE format('DROP TABLE bsky.%I CASCADE', item.name);
    EXECUTE format('ALTER TABLE bsky.divided RENAME TO %I', item.name);
    IF item.name = 'actors' THEN
      CREATE SEQUENCE bsky.actors_id_seq;
    END IF;
  END LOOP;
  -- Of tables that are divided already, a new version may compute more columns.
  PERFORM skua.add_computed_column(t.name) FROM skua.divided_tables() AS t;
END
$$;
COMMENT ON FUNCTION skua.divide_tables() IS 'Replaces the plain tables that the nodes divide by partitioned tables without partitions, and adds the columns that the nodes compute. Drops the views and functions that read the plain tables.';
REVOKE EXECUTE ON FUNCTION skua.divide_tables() FROM PUBLIC;

-- The node of a reply does not know the threadgate, and counts each reply. The rules are those of skua.judged_posts, for all replies at
-- once: a look-up for each reply would take a millisecond. bsky.posts.mentions has 20 accounts at most, and the facets have all.
CREATE OR REPLACE FUNCTION skua.replies_that_violate(post_actor int8, post_rkey int8) RETURNS int8
LANGUAGE plpgsql STABLE AS $$
DECLARE
  thread record;
  gate record;
  violating int8 := 0;
BEGIN
  FOR thread IN
    SELECT p.root_actor, p.root_rkey, array_agg(p.actor_id) AS actors FROM bsky.posts AS p
    WHERE p.parent_actor = post_actor AND p.parent_rkey = post_rkey AND p.cid IS NOT NULL AND p.actor_id <> p.root_actor
    GROUP BY 1, 2
  LOOP
    SELECT g.* INTO gate FROM bsky.threadgates AS g
    WHERE g.actor_id = thread.root_actor AND g.rkey = thread.root_rkey AND g.post_actor = g.actor_id AND g.post_rkey = g.rkey AND g.is_restricted;
    CONTINUE WHEN NOT FOUND;
    violating := violating + (
      SELECT count(*) FROM unnest(thread.actors) AS u(actor_id) WHERE u.actor_id NOT IN (
        SELECT f.actor_id FROM bsky.follows AS f
        WHERE gate.allow_followers AND f.subject_actor = thread.root_actor AND f.actor_id = ANY (thread.actors)
        UNION ALL
        SELECT f.subject_actor FROM bsky.follows AS f
        WHERE gate.allow_following AND f.actor_id = thread.root_actor AND f.subject_actor = ANY (thread.actors)
        UNION ALL
        SELECT i.subject_actor FROM unnest(gate.allow_lists[:20]) AS n(uri)
        CROSS JOIN LATERAL (
          SELECT l.* FROM bsky.resolve_uri(n.uri) AS l WHERE n.uri LIKE 'at://did:%' AND l.collection_id = 9) AS l
        CROSS JOIN LATERAL (
          SELECT i.subject_actor FROM bsky.list_items AS i WHERE i.list_actor = l.actor_id AND i.list_rkey = l.rkey
            AND i.actor_id = l.actor_id AND i.subject_actor = ANY (thread.actors) OFFSET 0) AS i
        UNION ALL
        SELECT unnest(r.mentions) FROM bsky.posts AS r
        WHERE gate.allow_mentioned AND r.actor_id = thread.root_actor AND r.rkey = thread.root_rkey
        UNION ALL
        SELECT a.id FROM bsky.posts AS r
        CROSS JOIN jsonb_path_query(r.facets, '$[*].features[*] ? (@."$type" == "app.bsky.richtext.facet#mention").did') AS m(did)
        JOIN bsky.actors AS a ON a.did = m.did #>> '{}'
        WHERE gate.allow_mentioned AND r.actor_id = thread.root_actor AND r.rkey = thread.root_rkey AND cardinality(r.mentions) >= 20
          AND a.id = ANY (thread.actors)));
  END LOOP;
  RETURN violating;
END
$$;
COMMENT ON FUNCTION skua.replies_that_violate(int8, int8) IS 'The number of direct replies to a post that violate the threadgate of their thread, from the records of all nodes.';

-- A view that exists keeps its columns and its grants. It has no rows before each node has the projection: a sum without a node would
-- be wrong. Records arrive before their sums, so a reply that violates the threadgate may not be in the sum yet.
CREATE OR REPLACE FUNCTION skua.sum_projection(projection text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  keys text[] := (SELECT key_columns FROM skua.network_projections() WHERE name = projection);
BEGIN
  EXECUTE format('CREATE OR REPLACE VIEW bsky.%I AS SELECT %s FROM node_tables.%1$I WHERE (SELECT skua.each_node_has(%1$L)) GROUP BY %3$s',
    projection,
    (SELECT string_agg(format(CASE WHEN a.attname = ANY (keys) THEN '%1$I'
        WHEN projection = 'post_stats' AND a.attname = 'replies' THEN 'CASE WHEN sum(%1$I) > 0 THEN '
          'greatest(sum(%1$I) - skua.replies_that_violate(actor_id, rkey), 0) ELSE 0 END::%2$s AS %1$I'
        ELSE 'sum(%1$I)::%2$s AS %1$I' END, a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
     FROM pg_attribute AS a WHERE a.attrelid = format('bsky.%I', projection)::regclass AND a.attnum > 0),
    array_to_string(keys, ', '));
END
$$;
COMMENT ON FUNCTION skua.sum_projection(text) IS 'Lets the view of a projection read the sums over the nodes, and the numbers of replies without those that violate a threadgate.';
REVOKE EXECUTE ON FUNCTION skua.sum_projection(text) FROM PUBLIC;

-- The node of the first post searches its facets, which can have 800 kB.
CREATE OR REPLACE FUNCTION skua.compute_post_rules() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  CREATE OR REPLACE VIEW bsky.post_rules AS
  SELECT j.actor_id, j.rkey, j.root_actor, j.root_rkey, j.parent_actor, j.parent_rkey, v.violates_threadgate,
    j.violates_embedding_rules, j.is_hidden, j.has_invalid_root
  FROM skua.judged_posts AS j
  CROSS JOIN LATERAL (
    SELECT CASE WHEN j.violates_unless_mentioned AND j.allows_mentioned THEN jsonb_build_array(jsonb_build_object('features',
      jsonb_build_array(jsonb_build_object('$type', 'app.bsky.richtext.facet#mention', 'did',
        (SELECT a.did FROM bsky.actors AS a WHERE a.id = j.actor_id))))) END AS mention
    OFFSET 0
  ) AS m
  CROSS JOIN LATERAL (
    SELECT j.violates_unless_mentioned AND NOT (j.allows_mentioned AND EXISTS (
      SELECT FROM bsky.posts AS r
      WHERE r.actor_id = j.root_actor AND r.rkey = j.root_rkey
        AND (j.actor_id = ANY (r.mentions) OR cardinality(r.mentions) >= 20 AND r.facets @> m.mention))) AS violates_threadgate
    OFFSET 0
  ) AS v
  WHERE j.depends_on_accounts OR v.violates_threadgate OR j.violates_embedding_rules OR j.is_hidden OR j.has_invalid_root;
END
$$;
COMMENT ON FUNCTION skua.compute_post_rules() IS 'Lets bsky.post_rules compute which posts break rules, from the records of all nodes.';
REVOKE EXECUTE ON FUNCTION skua.compute_post_rules() FROM PUBLIC;

-- The posts above a reply and their rules can change at any time, so each question decides again.
CREATE OR REPLACE FUNCTION skua.notified_post(reply_actor int8, reply_rkey int8, recipient int8, is_quote boolean) RETURNS int8
LANGUAGE plpgsql STABLE AS $$
DECLARE
  reply record;
  post_actor int8;
  post_rkey int8;
  next_actor int8;
  next_rkey int8;
BEGIN
  SELECT p.parent_actor, p.parent_rkey, p.mentions, p.quote_actor, p.quote_collection INTO reply FROM bsky.posts AS p
  WHERE p.actor_id = reply_actor AND p.rkey = reply_rkey AND p.cid IS NOT NULL;
  IF NOT FOUND OR recipient = ANY (reply.mentions) OR NOT is_quote AND reply.quote_collection = 1 AND reply.quote_actor = recipient THEN
    RETURN NULL;
  END IF;
  post_actor := reply.parent_actor;
  post_rkey := reply.parent_rkey;
  FOR height IN 1..4 LOOP
    SELECT p.parent_actor, p.parent_rkey INTO next_actor, next_rkey FROM bsky.posts AS p
    WHERE p.actor_id = post_actor AND p.rkey = post_rkey AND p.cid IS NOT NULL;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    IF post_actor = recipient THEN
      RETURN CASE WHEN NOT EXISTS (SELECT FROM bsky.post_rules AS r
        WHERE r.actor_id = reply_actor AND r.rkey = reply_rkey AND r.violates_threadgate) THEN post_rkey END;
    END IF;
    IF next_actor IS NULL OR EXISTS (SELECT FROM bsky.post_rules AS r
      WHERE r.actor_id = post_actor AND r.rkey = post_rkey AND r.is_hidden) THEN
      RETURN NULL;
    END IF;
    post_actor := next_actor;
    post_rkey := next_rkey;
  END LOOP;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION skua.notified_post(int8, int8, int8, boolean) IS 'The record key of the nearest post of the recipient above a reply, at most four posts above, if the reply notifies of it. A reply does not if it breaks the rules of the thread, if a post in between was removed or is a hidden reply, or if it mentions the recipient, or quotes the recipient and is_quote is false.';

-- The notifications of replies and quotes on the nodes are those that may notify. A post notifies an account at most once: of a quote that
-- breaks rules, it notifies the account of the reply, if it is one. If posts are above each other in a circle, two nodes have the same row.
CREATE OR REPLACE FUNCTION skua.join_notifications() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  CREATE OR REPLACE VIEW bsky.notifications AS
  SELECT n.recipient, n.actor_id, n.collection_id, n.rkey, s.reason, n.subject_actor, s.subject_collection, s.subject_rkey, n.sort_at
  FROM (
    SELECT DISTINCT ON (sort_at, actor_id, rkey, collection_id, recipient, reason, subject_rkey) * FROM node_tables.notifications
    ORDER BY sort_at DESC, actor_id DESC, rkey DESC, collection_id DESC, recipient, reason, subject_rkey
  ) AS n
  CROSS JOIN LATERAL (
    SELECT n.reason = 7 AND EXISTS (
      SELECT FROM bsky.post_rules AS r WHERE r.actor_id = n.actor_id AND r.rkey = n.rkey AND r.violates_embedding_rules) AS breaks_rules
    OFFSET 0
  ) AS q
  CROSS JOIN LATERAL (
    SELECT n.reason, n.subject_collection, n.subject_rkey WHERE n.reason <> 8 AND NOT q.breaks_rules
    UNION ALL
    SELECT 8, 1, p.rkey
    FROM (SELECT skua.notified_post(n.actor_id, n.rkey, n.recipient, q.breaks_rules) AS rkey WHERE n.reason = 8 OR q.breaks_rules OFFSET 0) AS p
    WHERE p.rkey = n.subject_rkey OR q.breaks_rules AND p.rkey IS NOT NULL
  ) AS s
  WHERE (SELECT skua.each_node_has('notifications'));
END
$$;
COMMENT ON FUNCTION skua.join_notifications() IS 'Lets bsky.notifications read those of all nodes that notify.';
REVOKE EXECUTE ON FUNCTION skua.join_notifications() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.show_network_projection(projection text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  present record;
BEGIN
  SELECT * INTO present FROM skua.network_projections() AS p WHERE p.name = projection;
  CREATE SCHEMA IF NOT EXISTS node_tables;
  IF present.form IN ('sum', 'rows') THEN
    EXECUTE format('CREATE TABLE IF NOT EXISTS node_tables.%I (LIKE bsky.%1$I)', projection);
  END IF;
  IF present.form = 'sum' THEN
    PERFORM skua.sum_projection(projection);
  ELSIF projection = 'post_rules' THEN
    PERFORM skua.compute_post_rules();
    -- They read the rules. Their own view is declared before that of the rules.
    PERFORM skua.join_notifications();
  END IF;
END
$$;
COMMENT ON FUNCTION skua.show_network_projection(text) IS 'In a query database, lets the view of a projection read the nodes. The view of another projection keeps no rows.';
REVOKE EXECUTE ON FUNCTION skua.show_network_projection(text) FROM PUBLIC;

-- The tables of projections that users added are in the schema projections of each node. A name in both schemas would be ambiguous in
-- node_tables. The name of a part has a hash, because the names of a table and a node together can be too long. A plan does not ask the
-- node for estimates: until the node has built a new version, its table may lack columns, and skua.each_node_has_version reads none of it.
CREATE OR REPLACE FUNCTION skua.connect_table(node text, table_name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE node_projections.%I () INHERITS (node_projections.%I) SERVER %I '
                 'OPTIONS (schema_name %4$L, table_name %2$L, use_remote_estimate %5$L)',
    node || '_' || left(md5(table_name), 16), table_name, 'node_' || node, 'projections', 'false');
END
$$;
COMMENT ON FUNCTION skua.connect_table(text, text) IS 'Lets the table of a projection that users added read a node, too.';
REVOKE EXECUTE ON FUNCTION skua.connect_table(text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.join_table(table_name text, projection text, help text, column_definitions text, key_columns text[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  former record;
  node text;
  columns text;
  grouping text := '';
BEGIN
  CREATE SCHEMA IF NOT EXISTS node_projections;
  COMMENT ON SCHEMA node_projections IS 'The tables of projections that users added, as the nodes have them. Read the views of the schema projections instead.';
  SELECT t.column_definitions, t.key_columns INTO former FROM skua.network_tables AS t WHERE t.name = table_name;
  IF FOUND AND former IS NOT DISTINCT FROM (column_definitions, key_columns) THEN
    RETURN;
  END IF;
  IF FOUND THEN
    EXECUTE format('DROP VIEW IF EXISTS projections.%I', table_name);
    EXECUTE format('DROP TABLE IF EXISTS node_projections.%I CASCADE', table_name);
  END IF;
  INSERT INTO skua.network_tables AS t (name, projection, column_definitions, key_columns)
  VALUES (join_table.table_name, join_table.projection, join_table.column_definitions, join_table.key_columns)
  ON CONFLICT (name) DO UPDATE SET projection = EXCLUDED.projection, column_definitions = EXCLUDED.column_definitions,
    key_columns = EXCLUDED.key_columns;
  EXECUTE format('CREATE TABLE node_projections.%I (%s)', table_name, column_definitions);
  FOR node IN SELECT n.name FROM skua.nodes AS n LOOP
    PERFORM skua.connect_table(node, table_name);
  END LOOP;
  SELECT string_agg(CASE WHEN key_columns IS NULL OR a.attname = ANY (key_columns) THEN quote_ident(a.attname)
      ELSE format('sum(%I)::%s AS %1$I', a.attname, format_type(a.atttypid, a.atttypmod)) END, ', ' ORDER BY a.attnum),
    format(' GROUP BY %s HAVING num_nonnulls(%s) > 0', array_to_string(key_columns, ', '),
      string_agg(format('nullif(sum(%I), 0)', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE a.attname <> ALL (key_columns)))
  INTO columns, grouping
  FROM pg_attribute AS a WHERE a.attrelid = format('node_projections.%I', table_name)::regclass AND a.attnum > 0;
  EXECUTE format('CREATE VIEW projections.%I AS SELECT %s FROM node_projections.%1$I WHERE (SELECT skua.each_node_has_version(%3$L, %4$s))%5$s',
    table_name, columns, projection, (SELECT max(p.version) FROM skua.projections AS p WHERE p.name = projection),
    CASE WHEN key_columns IS NOT NULL THEN grouping END);
  EXECUTE format('COMMENT ON VIEW projections.%I IS %L', table_name, help);
END
$$;
COMMENT ON FUNCTION skua.join_table(text, text, text, text, text[]) IS 'In a query database, makes the view of a table of a projection that users added. With key columns it adds the other columns of the nodes, and a row whose sums are all 0 is not shown. Without them it has the rows of all nodes.';
REVOKE EXECUTE ON FUNCTION skua.join_table(text, text, text, text, text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.drop_network_table(table_name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP VIEW IF EXISTS projections.%I', table_name);
  EXECUTE format('DROP TABLE IF EXISTS node_projections.%I CASCADE', table_name);
  DELETE FROM skua.network_tables AS t WHERE t.name = table_name;
END
$$;
COMMENT ON FUNCTION skua.drop_network_table(text) IS 'Drops what skua.join_table has made.';
REVOKE EXECUTE ON FUNCTION skua.drop_network_table(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.connect_node(node text, owned int4[], server_options jsonb, user_options jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  server text := 'node_' || node;
  shift int4 := (SELECT group_shift FROM skua.account_groups);
  part record;
  projection text;
BEGIN
  PERFORM skua.join_on_nodes();
  PERFORM skua.drop_node(node);
  EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server,
                 (SELECT string_agg(format('%I %L', o.key, o.value), ', ') FROM jsonb_each_text(server_options) AS o));
  EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %I%s', server, (
    SELECT ' OPTIONS (' || string_agg(format('%I %L', o.key, o.value), ', ') || ')' FROM jsonb_each_text(user_options) AS o));
  CREATE SCHEMA IF NOT EXISTS node_tables;
  COMMENT ON SCHEMA node_tables IS 'The tables of the nodes, as parts of the tables of bsky and skua. Read these instead.';
  FOR part IN
    SELECT t.name, r.first_group, r.last_group, format('%s_%s_%s', t.name, r.first_group, r.last_group) AS view
    FROM skua.divided_tables() AS t, skua.group_ranges(owned) AS r
  LOOP
    EXECUTE format('CREATE FOREIGN TABLE node_tables.%I PARTITION OF bsky.%I FOR VALUES FROM (%s) TO (%s) SERVER %I '
                   'OPTIONS (schema_name %L, table_name %L)',
      part.view, part.name, skua.group_bound(part.first_group, shift), skua.group_bound(part.last_group + 1, shift),
      server, 'node_ranges', part.view);
  END LOOP;
  FOR part IN
    SELECT t.name, format('%s_%s_%s', t.name, r.first_group, r.last_group) AS view
    FROM skua.shared_tables() AS t, skua.group_ranges(owned) AS r
  LOOP
    EXECUTE format('CREATE FOREIGN TABLE node_tables.%I () INHERITS (skua.%I) SERVER %I OPTIONS (schema_name %L, table_name %1$L)',
                   part.view, part.name, server, 'node_ranges');
  END LOOP;
  FOR projection IN SELECT name FROM skua.network_projections() WHERE form IN ('sum', 'rows') LOOP
    EXECUTE format('CREATE FOREIGN TABLE node_tables.%I () INHERITS (node_tables.%I) SERVER %I OPTIONS (schema_name %L, table_name %2$L)',
                   projection || '_of_' || node, projection, server, 'node_ranges');
  END LOOP;
  EXECUTE format('CREATE FOREIGN TABLE node_tables.%I (name text, lag interval, counted_moves int8[], built_during_move boolean, version int4) SERVER %I '
                 'OPTIONS (schema_name %L, table_name %L, use_remote_estimate %L)', 'projections_of_' || node, server, 'node_ranges', 'projections', 'false');
  EXECUTE format('CREATE FOREIGN TABLE node_tables.%I (name name) SERVER %I OPTIONS (schema_name %L, table_name %L, use_remote_estimate %L)',
                 'indexes_of_' || node, server, 'node_ranges', 'indexes', 'false');
  EXECUTE format('CREATE FOREIGN TABLE node_tables.%I (id int4, nsid text) SERVER %I OPTIONS (schema_name %L, table_name %L)',
                 'collections_of_' || node, server, 'node_ranges', 'collections');
  EXECUTE format('CREATE FOREIGN TABLE node_tables.%I (read_up_to timestamptz, has_waiting boolean, has_filter boolean, kept text) '
                 'SERVER %I OPTIONS (schema_name %L, table_name %L)', 'state_of_' || node, server, 'node_ranges', 'state');
  FOR projection IN SELECT t.name FROM skua.network_tables AS t LOOP
    PERFORM skua.connect_table(node, projection);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.connect_node(text, int4[], jsonb, jsonb) IS 'Makes the parts of all tables that read a node.';
REVOKE EXECUTE ON FUNCTION skua.connect_node(text, int4[], jsonb, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.drop_node(node text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP SERVER IF EXISTS %I CASCADE', 'node_' || node);
END
$$;
COMMENT ON FUNCTION skua.drop_node(text) IS 'Drops the parts of all tables that read a node.';
REVOKE EXECUTE ON FUNCTION skua.drop_node(text) FROM PUBLIC;

-- The names of the partitions have the groups.
CREATE OR REPLACE FUNCTION skua.connected_groups() RETURNS int4[]
LANGUAGE sql STABLE AS $$
  SELECT array_agg(g)
  FROM pg_inherits AS i
  JOIN pg_class AS c ON c.oid = i.inhrelid
  CROSS JOIN LATERAL regexp_match(c.relname, '^actors_([0-9]+)_([0-9]+)$') AS m
  CROSS JOIN LATERAL generate_series(m[1]::int4, m[2]::int4) AS g
  WHERE i.inhparent = 'bsky.actors'::regclass
$$;
COMMENT ON FUNCTION skua.connected_groups() IS 'The groups of accounts whose node this query database reads.';

-- Record keys and URIs are shown for each row, so the numbers of collections are looked up here and not in a node.
CREATE OR REPLACE FUNCTION skua.refresh_collections() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT f.ftrelid::regclass FROM pg_foreign_table AS f JOIN pg_class AS c ON c.oid = f.ftrelid
    WHERE c.relnamespace = to_regnamespace('node_tables') AND c.relname ^@ 'collections_of_'
  LOOP
    EXECUTE format('INSERT INTO bsky.collections (id, nsid) SELECT n.id, n.nsid FROM %s AS n '
                   'WHERE n.id >= 1000 AND NOT EXISTS (SELECT FROM bsky.collections AS c WHERE c.id = n.id) ON CONFLICT DO NOTHING', part);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.refresh_collections() IS 'In a query database, copies the numbers of new collections from the nodes. The commands of Skua call it. Call it yourself in psql if the URI of a record of a new collection is null.';
REVOKE EXECUTE ON FUNCTION skua.refresh_collections() FROM PUBLIC;

-- The function catches the error of each node, so that the others are still seen.
CREATE OR REPLACE FUNCTION skua.node_states()
RETURNS TABLE (name text, owned text, read_up_to timestamptz, has_waiting boolean, has_filter boolean, kept text, problem text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  FOR name, owned IN SELECT n.name, array_to_string(n.owned, ',') FROM skua.nodes AS n ORDER BY 1 LOOP
    read_up_to := NULL;
    has_waiting := NULL;
    has_filter := NULL;
    kept := NULL;
    problem := NULL;
    BEGIN
      EXECUTE format('SELECT s.* FROM node_tables.%I AS s', 'state_of_' || name) INTO read_up_to, has_waiting, has_filter, kept;
    EXCEPTION WHEN OTHERS THEN
      problem := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.node_states() IS 'The nodes of a query database: their groups, the time of the newest event that each has read, whether references to other nodes wait, whether it has a filter, how long it keeps records, and why it cannot be read.';
REVOKE EXECUTE ON FUNCTION skua.node_states() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.nodes_without_index(index_name text) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  node text;
  is_present boolean;
  missing text[] := '{}';
BEGIN
  FOR node IN SELECT n.name FROM skua.nodes AS n ORDER BY 1 LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM node_tables.%I AS i WHERE i.name = $1::name)', 'indexes_of_' || node)
      INTO is_present USING index_name;
    IF NOT is_present THEN
      missing := missing || node;
    END IF;
  END LOOP;
  RETURN missing;
END
$$;
COMMENT ON FUNCTION skua.nodes_without_index(text) IS 'The nodes of a query database that lack an optional index of schema bsky.';

-- Reads one node, and fails if it cannot be read.
CREATE OR REPLACE FUNCTION skua.projection_on_node(node text, projection text) RETURNS TABLE (lag interval, counted_moves int8[], version int4)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT p.lag, p.counted_moves, p.version FROM node_tables.%I AS p WHERE p.name = %L AND NOT p.built_during_move',
                              'projections_of_' || node, projection);
END
$$;
COMMENT ON FUNCTION skua.projection_on_node(text, text) IS 'The lag of the projection of a node, the moves of groups before it was built, and its version. No row: the node has not built it, or has built it while groups moved.';

-- The records of groups that moved count on the node that they left until it builds the projection again, and on the other
-- node from its next build on. The sums are right if neither or both have been built since.
CREATE OR REPLACE FUNCTION skua.uneven_nodes(projection text, counted jsonb) RETURNS TABLE (node text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  RETURN QUERY SELECT DISTINCT unnest(u.nodes)
  FROM skua.group_moves AS m
  LEFT JOIN skua.network_projections() AS p ON p.name = projection
  CROSS JOIN LATERAL (
    SELECT array_agg(c.key) AS nodes, count(*) AS number, count(*) FILTER (WHERE c.value @> to_jsonb(m.number)) AS built_since
    FROM jsonb_each(counted) AS c
    WHERE c.key IN (m.from_node, m.to_node)
  ) AS u
  WHERE m.phase IN ('clean', 'done') AND u.built_since < u.number
    AND NOT (coalesce(p.stores_only_sums, false) AND u.number = 2 AND u.built_since = 0);
END
$$;
COMMENT ON FUNCTION skua.uneven_nodes(text, jsonb) IS 'The nodes that must build a projection again, because groups have moved and the sums over the nodes are wrong without it. The object has the moves that the projection of each node has counted.';

CREATE OR REPLACE FUNCTION skua.projections_of_nodes(projection text) RETURNS TABLE (node text, lag interval)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  counted jsonb := '{}';
  lags jsonb := '{}';
  versions jsonb := '{}';
  newest int4 := (SELECT max(p.version) FROM skua.projections AS p WHERE p.name = projection);
  present record;
BEGIN
  FOR node IN SELECT n.name FROM skua.nodes AS n LOOP
    BEGIN
      SELECT * INTO present FROM skua.projection_on_node(node, projection);
      IF FOUND THEN
        counted := counted || jsonb_build_object(node, present.counted_moves);
        lags := lags || jsonb_build_object(node, present.lag);
        versions := versions || jsonb_build_object(node, present.version);
        newest := greatest(newest, present.version);
      END IF;
    EXCEPTION WHEN OTHERS THEN
      NULL;
    END;
  END LOOP;
  RETURN QUERY SELECT n.name, CASE WHEN u.node IS NULL AND (versions ->> n.name)::int4 = newest THEN (lags ->> n.name)::interval END
  FROM skua.nodes AS n LEFT JOIN skua.uneven_nodes(projection, counted) AS u ON u.node = n.name
  ORDER BY 1;
END
$$;
COMMENT ON FUNCTION skua.projections_of_nodes(text) IS 'The nodes of a query database, and how far a projection of each is behind. Null: the node has not built it, has an older version than another node or the stored projection, has not built it again since groups moved, or cannot be read.';

-- A node that goes away during a question makes it fail. Without rows, views would show zero as the sum.
CREATE OR REPLACE FUNCTION skua.each_node_has(projection text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  counted jsonb := '{}';
  versions int4[] := '{}';
  each_has boolean := true;
  present record;
  node text;
BEGIN
  FOR node IN SELECT n.name FROM skua.nodes AS n ORDER BY 1 LOOP
    SELECT * INTO present FROM skua.projection_on_node(node, projection);
    each_has := each_has AND FOUND;
    counted := counted || jsonb_build_object(node, present.counted_moves);
    versions := versions || present.version;
  END LOOP;
  RETURN each_has AND (SELECT count(DISTINCT v) FROM unnest(versions) AS v) <= 1 AND NOT EXISTS (SELECT FROM skua.uneven_nodes(projection, counted));
END
$$;
COMMENT ON FUNCTION skua.each_node_has(text) IS 'True if all nodes have built the same version of a projection, and their sums count each record once. An error if one of them cannot be read.';

CREATE OR REPLACE FUNCTION skua.each_node_has_version(projection text, oldest int4) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  RETURN skua.each_node_has(projection) AND NOT EXISTS (
    SELECT FROM skua.nodes AS n CROSS JOIN LATERAL skua.projection_on_node(n.name, projection) AS p WHERE p.version < oldest);
END
$$;
COMMENT ON FUNCTION skua.each_node_has_version(text, int4) IS 'True if skua.each_node_has is, and the version is not older than the first one with the present columns.';

CREATE OR REPLACE FUNCTION skua.mentions_of(first_account int8, last_account int8)
RETURNS TABLE (actor_id int8, collection_id int4, rkey int8)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT t.name, a.attname AS account,
      coalesce('t.' || k.attname, 'NULL') AS rkey,
      coalesce('t.' || c.attname, f.collection_id::text, CASE WHEN t.name = 'posts' THEN '1' ELSE '0' END) AS collection
    FROM skua.divided_tables() AS t
    JOIN pg_attribute AS a ON a.attrelid = format('bsky.%I', t.name)::regclass AND a.attname LIKE '%\_actor' AND NOT a.attisdropped
    CROSS JOIN LATERAL (SELECT regexp_replace(a.attname, '_actor$', '') AS stem) AS s
    LEFT JOIN pg_attribute AS k ON k.attrelid = a.attrelid AND k.attname = s.stem || '_rkey'
    LEFT JOIN pg_attribute AS c ON c.attrelid = a.attrelid AND c.attname = s.stem || '_collection'
    LEFT JOIN skua.record_fields AS f ON f.table_name = t.name AND f.column_name = s.stem
  LOOP
    RETURN QUERY EXECUTE format('SELECT DISTINCT t.%I, %s::int4, %s::int8 FROM bsky.%I AS t WHERE t.actor_id BETWEEN $1 AND $2 AND t.%1$I IS NOT NULL',
                                one.account, one.collection, one.rkey, one.name) USING first_account, last_account;
  END LOOP;
  RETURN QUERY SELECT DISTINCT m, 0, NULL::int8 FROM bsky.posts AS p, unnest(p.mentions) AS m
    WHERE p.actor_id BETWEEN first_account AND last_account;
END
$$;
COMMENT ON FUNCTION skua.mentions_of(int8, int8) IS 'The accounts and records that records of these accounts mention. The key is null: an account alone. With account 0, the key is that of a URI.';
