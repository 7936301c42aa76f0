"""The tables, views and functions of a migrated database with their comments, read from the catalog through psql.

Relations are in the order in which the migrations created them, functions in the order of their names.
"""

import dataclasses
import json
import re
import subprocess

# Partitions of the change log and tables of projections (a name and a number) are parts of other relations.
QUERY = r"""
SELECT json_build_object(
  'relations', (
    SELECT json_agg(json_build_object(
      'schema', n.nspname, 'name', c.relname, 'is_view', c.relkind = 'v', 'comment', obj_description(c.oid, 'pg_class'),
      'columns', (
        SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'not_null', a.attnotnull, 'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
        FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
      'primary_key', (
        SELECT json_agg(a.attname ORDER BY k.place)
        FROM pg_index AS i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE i.indrelid = c.oid AND i.indisprimary),
      'indexes', (
        SELECT json_agg(json_build_object('name', x.relname, 'is_unique', i.indisunique,
          'definition', pg_get_indexdef(x.oid, 0, true)) ORDER BY x.relname)
        FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid
        WHERE i.indrelid = c.oid AND NOT i.indisprimary)
    ) ORDER BY c.oid)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('bsky', 'skua') AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition AND c.relname !~ '_\d+$'),
  'functions', (
    SELECT json_agg(json_build_object(
      'schema', n.nspname, 'name', p.proname, 'arguments', pg_get_function_arguments(p.oid),
      'names', to_json(p.proargnames), 'result', pg_get_function_result(p.oid), 'returns_rows', p.proretset,
      'comment', obj_description(p.oid, 'pg_proc')
    ) ORDER BY n.nspname, p.proname, pg_get_function_arguments(p.oid))
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname IN ('bsky', 'skua')),
  'collections', (
    SELECT json_object_agg(t.name, c.nsid ORDER BY c.id)
    FROM skua.record_tables AS t JOIN bsky.collections AS c ON c.id = t.collection_id),
  'targets', (
    SELECT json_agg(json_build_array(f.table_name, f.column_name, t.name))
    FROM skua.record_fields AS f JOIN skua.record_tables AS t ON t.collection_id = f.collection_id),
  'index_statements', (
    SELECT json_agg(pg_get_indexdef(i.indexrelid) ORDER BY n.nspname, c.relname, x.relname)
    FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_class AS x ON x.oid = i.indexrelid
    WHERE n.nspname IN ('bsky', 'skua') AND NOT c.relispartition AND c.relname !~ '_\d+$'),
  'reader_tables', (SELECT json_agg(name ORDER BY name) FROM skua.reader_tables))
"""

REFERENCE_PARTS = ("actor", "collection", "rkey", "cid")
SHORT_TYPES = (("timestamp with time zone", "timestamptz"), ("bigint", "int8"), ("integer", "int4"), ("smallint", "int2"))


class SchemaError(Exception):
    """The database cannot be described."""


def short_types(text):
    for name, short in SHORT_TYPES:
        text = re.sub(rf"\b{name}\b", short, text)
    return text


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    type: str
    not_null: bool
    comment: str

    def meaning(self):
        """Two columns with the same meaning need one description."""
        return self.name, self.type, self.comment


@dataclasses.dataclass(frozen=True)
class Index:
    """`expression`: the columns with the condition, as in CREATE INDEX."""

    name: str
    is_unique: bool
    method: str
    expression: str


@dataclasses.dataclass(frozen=True)
class Relation:
    schema: str
    name: str
    is_view: bool
    comment: str
    columns: tuple
    primary_key: tuple
    indexes: tuple

    def title(self):
        return f"{self.schema}.{self.name}"

    def column(self, name):
        return next((column for column in self.columns if column.name == name), None)

    def reference_of(self, name):
        """The reference to which a column belongs, and the place of the column in it: (parent, 2) for parent_rkey. A
        reference to an account has x_actor only, one to a record also x_rkey. None: the column is no part of one."""
        stem, _, part = name.rpartition("_")
        is_part = part in REFERENCE_PARTS and self.column(f"{stem}_actor") and (part == "actor" or self.column(f"{stem}_rkey"))
        return (stem, REFERENCE_PARTS.index(part)) if is_part else None

    def references_to_records(self):
        return [column.name.removesuffix("_rkey") for column in self.columns
                if column.name.endswith("_rkey") and self.reference_of(column.name)]


@dataclasses.dataclass(frozen=True)
class Function:
    schema: str
    name: str
    arguments: str
    argument_names: tuple
    result: str
    returns_rows: bool
    comment: str


class Catalog:
    """`collections`: {table: nsid} of the tables that have the records of one collection, by the number of the
    collection. `targets`: {(table, stem of a reference): table} of the references to one collection. `reader_tables`:
    the tables of skua for readers. `index_statements`: the statement of each index, primary keys included.
    """

    def __init__(self, found):
        self.relations = [self.relation(entry) for entry in found["relations"]]
        self.functions = [self.function(entry) for entry in found["functions"]]
        self.collections = found["collections"]
        self.targets = {(table, stem): target for table, stem, target in found["targets"]}
        self.reader_tables = found["reader_tables"]
        self.index_statements = found["index_statements"]

    @staticmethod
    def relation(entry):
        title = f"{entry['schema']}.{entry['name']}"
        columns = [Column(column["name"], short_types(column["type"]), column["not_null"],
                          comment_of(column, f"{title}.{column['name']}")) for column in entry["columns"]]
        indexes = [Catalog.index(index) for index in entry["indexes"] or ()]
        return Relation(entry["schema"], entry["name"], entry["is_view"], comment_of(entry, title), tuple(columns),
                        tuple(entry["primary_key"] or ()), tuple(indexes))

    @staticmethod
    def index(entry):
        method, expression = re.fullmatch(r"CREATE (?:UNIQUE )?INDEX .* USING (\w+) (.*)", entry["definition"]).groups()
        return Index(entry["name"], entry["is_unique"], method, expression.replace("::text", ""))

    @staticmethod
    def function(entry):
        title = f"{entry['schema']}.{entry['name']}({entry['arguments']})"
        return Function(entry["schema"], entry["name"], short_types(entry["arguments"]), tuple(entry["names"] or ()),
                        short_types(entry["result"]), entry["returns_rows"], comment_of(entry, title))

    def of_schema(self, schema):
        """{name: relation}"""
        return {relation.name: relation for relation in self.relations if relation.schema == schema}


def comment_of(entry, title):
    if not entry["comment"]:
        raise SchemaError(f"{title} has no comment")
    return entry["comment"]


def psql(url, *arguments, text=None):
    """The output of psql; SchemaError if it fails."""
    done = subprocess.run(
        ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", url, *arguments], input=text, capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        raise SchemaError(f"psql: {done.stderr.strip()}")
    return done.stdout


def read(url):
    """The catalog of a migrated database."""
    return Catalog(json.loads(psql(url, text=QUERY)))
