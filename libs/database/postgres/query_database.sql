-- name: nodes_is_query_database
SELECT coalesce((SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass('bsky.posts')), false);

-- name: nodes_have_table
SELECT to_regclass('skua.nodes') IS NOT NULL;

-- name: nodes_read
SELECT name, url, array_to_string(owned, ',') FROM skua.nodes ORDER BY name;

-- name: nodes_moves
SELECT from_node, to_node, left_timeline, left_pos, arrived_timeline, arrived_pos
FROM skua.group_moves
WHERE phase IN ('clean', 'done')
ORDER BY number;

-- name: nodes_have_ranges
SELECT to_regnamespace('node_ranges') IS NOT NULL;

-- name: nodes_hide_ranges
SELECT skua.hide_ranges();

-- name: nodes_show_ranges
SELECT skua.show_ranges();

-- name: nodes_disconnect
SELECT skua.disconnect_tables();

-- name: nodes_divide
SELECT skua.divide_tables();

-- name: nodes_join
SELECT skua.join_on_nodes();

-- name: nodes_connect
-- $3 and $4 are the options of the server, $5 and $6 those of the user.
SELECT skua.connect_node($1::text, string_to_array($2, ',')::int4[], jsonb_object($3::text[], $4::text[]),
  jsonb_object($5::text[], $6::text[]));

-- name: nodes_refresh_collections
SELECT skua.refresh_collections();

-- name: nodes_states
SELECT name, owned, to_char(read_up_to, 'YYYY-MM-DD HH24:MI:SS'), extract(epoch FROM clock_timestamp() - read_up_to)::int8,
  coalesce(has_waiting, false), coalesce(has_filter, false), coalesce(kept, ''), coalesce(problem, '')
FROM skua.node_states();

-- name: nodes_read_projection
SELECT $1::text IN (SELECT name FROM skua.network_projections());

-- name: nodes_without_projection
SELECT n.node
FROM skua.network_projections() AS p
CROSS JOIN LATERAL skua.projections_of_nodes(p.name) AS n
WHERE p.name = $1::text AND p.form <> 'computed' AND (n.lag IS NULL OR n.lag >= interval '1 minute')
ORDER BY 1;

-- name: nodes_without_index
SELECT unnest(skua.nodes_without_index($1::text));

-- name: nodes_rights
-- Whether the extension exists, whether this role may create it, and whether it may create servers.
SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'postgres_fdw'),
  EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'),
  (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
  coalesce((SELECT has_foreign_data_wrapper_privilege(oid, 'USAGE') FROM pg_foreign_data_wrapper WHERE fdwname = 'postgres_fdw'), false),
  current_user::text;
