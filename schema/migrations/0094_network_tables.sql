-- A query database reads the tables of projections that users added (skua.join_table).
CREATE TABLE skua.network_tables (
  name text PRIMARY KEY,
  projection text NOT NULL,
  column_definitions text NOT NULL,
  key_columns text[]
);
COMMENT ON TABLE skua.network_tables IS 'In a query database, the tables of projections that users added. The view projections.NAME joins the tables of the nodes. `skua projection` changes it.';
COMMENT ON COLUMN skua.network_tables.name IS 'The name of the table and of its view.';
COMMENT ON COLUMN skua.network_tables.projection IS 'The projection to which the table belongs (skua.projections.name).';
COMMENT ON COLUMN skua.network_tables.column_definitions IS 'The columns with their types, as in CREATE TABLE.';
COMMENT ON COLUMN skua.network_tables.key_columns IS 'The key of a row. The other columns are the sums over the nodes. Null: the table has the rows of all nodes.';
