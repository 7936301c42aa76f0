"""Files of `skua export`, read into a table of PostgreSQL and compared with the rows that they came from."""

import subprocess


def columns_of(database, relation):
    """The columns of a relation, as (name, type)."""
    return [(row["name"], row["type"]) for row in database.rows(
        "select attname as name, format_type(atttypid, null) as type from pg_attribute "
        f"where attrelid = '{relation}'::regclass and attnum > 0 and not attisdropped order by attnum")]


def fingerprint_sql(relation):
    return f"select count(*) || '|' || coalesce(sum(hashtextextended(r::text, 0)::numeric), 0) from {relation} r"


def fingerprint(database, relation):
    """The number of rows, and the sum of the hashes of their texts: it does not depend on their order, and a doubled row
    changes it."""
    return database.run(fingerprint_sql(relation))


def read_csv(database, file, relation, table):
    """Reads a file of CSV into a new table with the columns of a relation."""
    database.run(csv_script(file, columns_of(database, relation), table))


def csv_script(file, columns, table):
    """What psql runs to read a file."""
    values = [f'case when "{name}" is not null then array(select jsonb_array_elements_text("{name}"::jsonb)) end::{kind}'
              if kind.endswith("[]") else f'"{name}"::{kind}' for name, kind in columns]
    list_of_values = ", ".join(f'{value} as "{name}"' for value, (name, _) in zip(values, columns))
    texts = ", ".join(f'"{name}" text' for name, _ in columns)
    return (f"create table {table}_texts ({texts});\n"
            f"\\copy {table}_texts from '{file}' with (format csv, header match)\n"
            f"create table {table} as select {list_of_values} from {table}_texts; drop table {table}_texts;\n")


def read_jsonl(database, file, relation, table):
    """Reads a file of JSON lines into a new table with the columns of a relation."""
    database.run(jsonl_script(file, relation, table))


def jsonl_script(file, relation, table):
    """What psql runs to read a file."""
    return (f"create table {table}_lines (line text);\n"
            f"\\copy {table}_lines from '{file}' with (format csv, quote e'\\x01', delimiter e'\\x02')\n"
            f"create table {table} as select * from {relation} with no data; "
            f"insert into {table} select r.* from {table}_lines, jsonb_populate_record(null::{table}, line::jsonb) r; "
            f"drop table {table}_lines;\n")


def read_parquet(database, python, file, relation, table):
    """Reads a Parquet file with DuckDB into a new table with the columns of a relation. `python` can import duckdb."""
    lines = file.with_suffix(".back.jsonl")
    subprocess.run([python, "-c", "import duckdb, sys; duckdb.sql(\"set timezone = 'UTC'\"); "
                    "duckdb.sql(f\"copy (select * from '{sys.argv[1]}') to '{sys.argv[2]}' (format json)\")", file, lines],
                   check=True, timeout=600)
    read_jsonl(database, lines, relation, table)
