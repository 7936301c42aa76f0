-- The progress of consumers, the views of projections, and the role of projections that users add.

CREATE OR REPLACE FUNCTION skua.consumer_progress(consumer text)
RETURNS TABLE (pos int8, behind int8, lag interval)
LANGUAGE sql STABLE AS $$
  SELECT p.pos, skua.change_log_end() - p.pos,
    CASE WHEN p.pos >= skua.change_log_end() THEN interval '0'
      ELSE clock_timestamp() - (SELECT l.at FROM skua.change_log AS l WHERE l.pos <= p.pos ORDER BY l.pos DESC LIMIT 1) END
  FROM (
    SELECT min(least(l.pos, l.waiting_pos)) AS pos
    FROM skua.consumers AS c JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
    WHERE c.name = consumer AND c.role = 'live' AND c.state = 'running'
  ) AS p WHERE p.pos IS NOT NULL
$$;
COMMENT ON FUNCTION skua.consumer_progress(text) IS 'The progress of a consumer: the position of its oldest change that is not processed, or that left work in a queue; the number of changes from there to the end of the log; and the age of the oldest of them. No row: the consumer does not exist, is not built, or is stopped.';

CREATE OR REPLACE FUNCTION bsky.is_current(projection text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN skua.is_query_database()
    THEN EXISTS (SELECT FROM skua.network_projections() AS p WHERE p.name = projection AND p.form = 'computed')
      OR (SELECT coalesce(bool_and(coalesce(n.lag < interval '1 minute', false)), false) FROM skua.projections_of_nodes(projection) AS n)
    ELSE coalesce((SELECT p.lag < interval '1 minute' FROM skua.consumer_progress(projection) AS p), false) END
$$;
COMMENT ON FUNCTION bsky.is_current(text) IS 'True if a projection, such as post_stats, is built and less than a minute behind; in a query database, on each node, or if it is computed there. skua.consumer_progress returns its position.';

-- A build replaces the view of a projection (skua.show_projection), so a view that exists stays.
CREATE OR REPLACE FUNCTION skua.declare_projection(name text, columns text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass(format('bsky.%I', name)) IS NULL THEN
    EXECUTE format('CREATE VIEW bsky.%I AS SELECT %s WHERE false', name, (
      SELECT string_agg(format('NULL::%s AS %I', split_part(c.text, ' ', 2), split_part(c.text, ' ', 1)), ', ' ORDER BY c.place)
      FROM regexp_split_to_table(columns, ',\s+') WITH ORDINALITY AS c(text, place)));
  END IF;
  IF skua.is_query_database() THEN
    PERFORM skua.show_network_projection(name);
  END IF;
END
$$;
COMMENT ON FUNCTION skua.declare_projection(text, text) IS 'Creates the view of a projection, which has no rows before the first build. In a query database it reads the nodes. The columns have the form: name type, name type.';

-- A view that is replaced keeps its grants, and the views of users that read it. Readers see the tables of one consumer or of
-- the next one, never a part. A view that was dropped together with its table is created again.
CREATE OR REPLACE FUNCTION skua.show_projection(name text, consumer_id int4) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  present regclass := to_regclass('bsky.' || name);
  columns text := '*';
  from_table text := 'WHERE false';
BEGIN
  IF consumer_id IS NOT NULL THEN
    from_table := format('FROM skua.%I', name || '_' || consumer_id);
  ELSIF present IS NULL THEN
    RETURN;
  END IF;
  IF present IS NOT NULL THEN
    SELECT string_agg(CASE WHEN consumer_id IS NULL THEN format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname)
                           ELSE format('%I', a.attname) END, ', ' ORDER BY a.attnum)
    INTO columns FROM pg_attribute AS a WHERE a.attrelid = present AND a.attnum > 0;
  END IF;
  EXECUTE format('CREATE OR REPLACE VIEW bsky.%I AS SELECT %s %s', name, columns, from_table);
END
$$;
COMMENT ON FUNCTION skua.show_projection(text, int4) IS 'Lets the view of a projection read the table of a consumer; null: no table, and the view has no rows.';

-- The views of projections that users add are in the schema projections. Another version may have other columns: then the view
-- is dropped and created again, which fails if an object of a user depends on it.
CREATE OR REPLACE FUNCTION skua.show_own_projection(name text, consumer_id int4, condition text, help text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  view oid := to_regclass(format('projections.%I', name));
  former text;
  columns text;
  names text;
BEGIN
  SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
  INTO former FROM pg_attribute AS a WHERE a.attrelid = view AND a.attnum > 0;
  IF consumer_id IS NULL THEN
    SELECT string_agg(format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum)
    INTO names FROM pg_attribute AS a WHERE a.attrelid = view AND a.attnum > 0;
    IF view IS NOT NULL THEN
      EXECUTE format('CREATE OR REPLACE VIEW projections.%I AS SELECT %s WHERE false', name, names);
    END IF;
    RETURN;
  END IF;
  SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum),
    string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum)
  INTO columns, names FROM pg_attribute AS a
  WHERE a.attrelid = format('projections.%I', name || '_' || consumer_id)::regclass AND a.attnum > 0 AND NOT a.attisdropped;
  IF former <> columns AND NOT starts_with(columns, former || ', ') THEN
    EXECUTE format('DROP VIEW projections.%I', name);
  END IF;
  EXECUTE format('CREATE OR REPLACE VIEW projections.%I AS SELECT %s FROM projections.%I WHERE %s', name, names,
                 name || '_' || consumer_id, condition);
  EXECUTE format('COMMENT ON VIEW projections.%I IS %L', name, help);
END
$$;
COMMENT ON FUNCTION skua.show_own_projection(text, int4, text, text) IS 'Lets the view of a projection that a user added read the rows of a consumer''s table for which the condition holds; null: the view has no rows.';
REVOKE EXECUTE ON FUNCTION skua.show_own_projection(text, int4, text, text) FROM PUBLIC;

-- The columns are those of CREATE TABLE. No table of a user has a name with a number at its end.
CREATE OR REPLACE FUNCTION skua.declare_own_projection(name text, columns text, help text, is_used boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  view regclass := to_regclass(format('projections.%I', name));
  is_equal boolean;
BEGIN
  IF view IS NOT NULL AND is_used THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE projections.declared_0 (%s)', columns);
  SELECT array_agg((a.attname, a.atttypid, a.atttypmod) ORDER BY a.attnum) FILTER (WHERE a.attrelid = view)
    = array_agg((a.attname, a.atttypid, a.atttypmod) ORDER BY a.attnum) FILTER (WHERE a.attrelid <> view)
  INTO is_equal FROM pg_attribute AS a WHERE a.attrelid IN (view, 'projections.declared_0'::regclass) AND a.attnum > 0;
  IF NOT is_equal THEN
    EXECUTE format('DROP VIEW projections.%I', name);
  END IF;
  IF is_equal IS NOT TRUE THEN
    EXECUTE format('CREATE VIEW projections.%I AS SELECT %s WHERE false', name, (
      SELECT string_agg(format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum)
      FROM pg_attribute AS a WHERE a.attrelid = 'projections.declared_0'::regclass AND a.attnum > 0));
  END IF;
  DROP TABLE projections.declared_0;
  EXECUTE format('COMMENT ON VIEW projections.%I IS %L', name, help);
END
$$;
COMMENT ON FUNCTION skua.declare_own_projection(text, text, text, boolean) IS 'Creates the view of a projection that a user added. It has no rows before the first build. A view of tables that a consumer has (is_used) stays as it is.';
REVOKE EXECUTE ON FUNCTION skua.declare_own_projection(text, text, text, boolean) FROM PUBLIC;

-- From PostgreSQL 16 on, a role that may create roles is a member of those that it created, but without the right to act as them.
CREATE OR REPLACE FUNCTION skua.may_act_as_projection() RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT pg_has_role('skua_projection', CASE WHEN current_setting('server_version_num')::int4 >= 160000 THEN 'SET' ELSE 'MEMBER' END)
$$;
COMMENT ON FUNCTION skua.may_act_as_projection() IS 'True if this role may give functions to the role skua_projection, as the builder of projections does.';

CREATE OR REPLACE FUNCTION skua.require_projection_role() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF to_regrole('skua_projection') IS NULL THEN
    RAISE EXCEPTION 'the role skua_projection does not exist: a superuser runs CREATE ROLE skua_projection NOLOGIN; GRANT skua_projection TO %; then run SELECT skua.grant_projection() here',
      quote_ident(current_user) USING ERRCODE = 'undefined_object';
  END IF;
  IF NOT skua.may_act_as_projection() THEN
    RAISE EXCEPTION '% is not a member of skua_projection: a superuser runs GRANT skua_projection TO %',
      quote_ident(current_user), quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT has_schema_privilege('skua_projection', 'projections', 'CREATE') THEN
    RAISE EXCEPTION 'the role skua_projection lacks its privileges: run SELECT skua.grant_projection()'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
END
$$;
COMMENT ON FUNCTION skua.require_projection_role() IS 'Raises an error with its cure if this role cannot build projections that users add.';

CREATE OR REPLACE FUNCTION skua.tuning_overrides(overrides jsonb)
RETURNS TABLE (batch int4, pause_ms int4, max_attempts int4, retry_ms int4, max_retry_ms int4)
LANGUAGE sql IMMUTABLE ROWS 1 AS $$
  SELECT max(n.value) FILTER (WHERE n.key = 'batch'), max(n.value) FILTER (WHERE n.key = 'pause_ms'),
    max(n.value) FILTER (WHERE n.key = 'max_attempts'), max(n.value) FILTER (WHERE n.key = 'retry_ms'),
    max(n.value) FILTER (WHERE n.key = 'max_retry_ms')
  FROM (
    SELECT o.key, least(o.value::int8, 2147483647)::int4 AS value
    FROM (
      -- LEAST ignores nulls, so that only numbers may reach it.
      SELECT e.key, substring(e.value FROM '^[0-9]{1,18}$') AS value
      FROM jsonb_each_text(CASE WHEN jsonb_typeof(overrides) = 'object' THEN overrides ELSE '{}' END) AS e
    ) AS o
    WHERE o.value IS NOT NULL
  ) AS n
$$;
COMMENT ON FUNCTION skua.tuning_overrides(jsonb) IS 'The values of skua.consumers.overrides. Null: the value is missing, or is not a whole number.';
