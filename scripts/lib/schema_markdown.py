"""The two generated parts of docs/schema.md: an overview of the relations with diagrams, and the reference."""

import collections
import re

from lib.schema_diagram import diagram
from lib.schema_sections import sections

# The functions of skua for readers of the database; the others are for the program.
READER_FUNCTIONS = ("change_log_end", "changes", "change_references", "consumer_progress")
# Columns that tables or views of records share, in the order of the document.
SHARED_ORDER = ("uri", "did", "handle", "name", "actor_id", "rkey", "rev", "cid", "created_at", "indexed_at", "extra")
# Parts of comments that are shown as code. Names without an underscore are often English words; these are not.
CODE = re.compile(
    r"`[^`]*`"
    r"|\b\w+ @> ARRAY\[[^\]]*\]"
    r"|(?<![\w.])(?:app|chat|com)(?:\.\w+){2,}(?:#\w+|\.\*)?"
    r"|(?<![\w.])(?:bsky|skua)(?:\.\w+)+(?:\([^()]*\))?"
    r"|(?<![\w./])[a-z]+(?:_[a-z]+)+(?![\w(])"
    r"|(?<![\w./#])[a-z]+[A-Z]\w+"
    r"|(?<![\w./:-])(?:cid|cts|pos|rkey|seq)(?![\w(])"
    r"|(?<=in )extra\b"
)


class Markdown:
    def __init__(self, catalog):
        self.catalog = catalog
        self.sections = sections(catalog)
        self.bsky = catalog.of_schema("bsky")
        self.skua = catalog.of_schema("skua")
        self.readable = [relation for name, relation in self.skua.items() if name in catalog.reader_tables]
        self.projections = [view for view in self.bsky.values() if f"`skua consumers add {view.name}`" in view.comment]
        self.other_views = [view for view in self.bsky.values() if view.is_view and view not in self.projections
                            and view.name.removesuffix("_view") not in self.bsky.keys() - {view.name}]
        records = list(catalog.collections)
        self.table_columns = self.shared_columns(records)
        self.view_columns = self.shared_columns([f"{name}_view" for name in records])
        self.view_sentences = frequent([sentences(self.bsky[f"{name}_view"].comment) for name in records])
        names = {relation.title() for relation in catalog.relations}
        names |= {f"{relation.title()}.{column.name}" for relation in catalog.relations for column in relation.columns}
        self.names = names | {f"{function.schema}.{function.name}" for function in catalog.functions}

    def shared_columns(self, relations):
        """{name: column} of the columns that most of these relations have with the same type and comment."""
        columns = {column.meaning(): column for name in relations for column in self.bsky[name].columns}
        found = frequent([[column.meaning() for column in self.bsky[name].columns] for name in relations])
        found.sort(key=lambda meaning: SHARED_ORDER.index(meaning[0]) if meaning[0] in SHARED_ORDER else len(SHARED_ORDER))
        return {columns[meaning].name: columns[meaning] for meaning in found}

    def prose(self, text):
        """A comment as Markdown: names and expressions as code."""

        def show(match):
            found = match[0]
            is_name = not found.startswith(("bsky.", "skua.")) or found.split("(")[0] in self.names
            return f"`{found}`" if is_name and not found.startswith("`") else found

        return CODE.sub(show, text).replace("|", "\\|")

    # The overview

    def overview(self):
        """What the relations contain, with links to the reference, and diagrams of the tables."""
        lines = []
        for title, tables in self.sections:
            lines += [f"### {title}", "", *self.contents("table", tables), "", diagram(self.catalog, tables), ""]
        lines += ["### Other views", "", *self.contents("view", self.other_views), ""]
        lines += ["### Views of projections", "", *self.contents("view", self.projections), ""]
        lines += ["### The schema skua", "", *self.contents("table", self.skua.values())]
        return "\n".join(lines)

    def contents(self, kind, relations):
        rows = [f"| {kind} | content |", "|---|---|"]
        for relation in relations:
            has_section = relation.schema == "bsky" or relation in self.readable
            shown = f"[`{relation.name}`](#{anchor(relation.title())})" if has_section else f"`{relation.name}`"
            comment = sentences(relation.comment)[0] if has_section else relation.comment
            rows.append(f"| {shown} | {self.prose(comment)} |")
        return rows

    # The reference

    def reference(self):
        parts = ["## Reference: tables and their views",
                 "### Columns of all tables of records",
                 self.column_table(self.table_columns.values()),
                 "### Columns of all views of records",
                 self.prose(" ".join(self.view_sentences)),
                 self.column_table(self.view_columns.values())]
        for relation in [table for _, tables in self.sections for table in tables]:
            parts += self.relation(relation)
        parts.append("## Reference: other views")
        for relation in self.other_views:
            parts += self.relation(relation)
        parts.append("## Reference: projections")
        for relation in self.projections:
            parts += self.relation(relation)
        parts += ["## Reference: functions", *self.functions()]
        parts.append("## Reference: the schema skua")
        for relation in self.readable:
            parts += self.relation(relation)
        parts += ["### Functions of the schema skua",
                  self.function_table([function for function in self.catalog.functions
                                       if function.schema == "skua" and function.name in READER_FUNCTIONS])]
        return "\n\n".join(parts)

    def column_table(self, columns):
        rows = [f"| `{column.name}` | {column.type}{', not null' if column.not_null else ''} | {self.prose(column.comment)} |"
                for column in columns]
        return "\n".join(["| column | type | content |", "|---|---|---|", *rows])

    def is_of_records(self, relation):
        """Whether a table has the columns of all tables of records."""
        return relation.schema == "bsky" and (relation.name in self.catalog.collections or relation.name == "records")

    def relation(self, relation):
        """A table or a view; after it the view that shows its names, if there is one."""
        parts = [f"### `{relation.title()}`", self.prose(relation.comment)]
        if relation.primary_key:
            parts.append(f"Primary key: `{', '.join(relation.primary_key)}`")
        if relation.indexes:
            parts.append("\n".join(f"- {index_text(index)}" for index in relation.indexes))
        columns = self.ordered(relation)
        if self.is_of_records(relation):
            shared = self.table_columns
            columns.sort(key=lambda column: column.name in shared)
            parts += self.columns_beside(relation, columns, shared.values(), "the columns of all tables of records")
        else:
            parts.append(self.column_table(columns))
        view = self.bsky.get(f"{relation.name}_view") if relation.schema == "bsky" else None
        return parts + (self.view_of(relation, view) if view else [])

    def ordered(self, relation):
        """The columns for readers: the primary key, then the order of the view that shows the names of the table. The
        columns of tables are in the order of their width. A table of skua begins with texts, which name things."""
        if relation.is_view:
            return list(relation.columns)
        view = self.bsky.get(f"{relation.name}_view") if relation.schema == "bsky" else None
        names = [column.name for column in view.columns] if view else []

        def place(column):
            if column.name in relation.primary_key:
                return 0, relation.primary_key.index(column.name), 0
            stem, part = relation.reference_of(column.name) or (column.name, 0)
            shown = [names.index(name) for name in (f"{stem}_uri", f"{stem}_did", stem) if name in names]
            is_text = relation.schema == "skua" and column.type == "text" and column.not_null
            return 1 if shown or is_text else 2, shown[0] if shown else 0, part

        return sorted(relation.columns, key=place)

    def view_of(self, relation, view):
        """A view by its difference from its table."""
        shared = self.view_columns.values() if self.is_of_records(relation) else ()
        content = relation.comment.split(":")[0] + "."
        remarks = [sentence for sentence in sentences(view.comment)
                   if sentence not in (content, relation.comment, *self.view_sentences)]
        source = f"the columns of `{relation.title()}`" + (" and of all views of records" if shared else "")
        parts = [f"#### `{view.title()}`"]
        if remarks:
            parts.append(self.prose(" ".join(remarks)))
        return parts + self.columns_beside(view, view.columns, [*self.ordered(relation), *shared], source)

    def columns_beside(self, relation, columns, known, source):
        """The columns of a relation by their difference from known columns, which `source` names."""
        meanings = {column.meaning() for column in known}
        own = [column for column in columns if column.meaning() not in meanings]
        absent = dict.fromkeys(column.name for column in known if not relation.column(column.name))
        text = f"It has {source}" + (f" except {code_list(absent)}" if absent else "")
        return [f"{text}, and these:", self.column_table(own)] if own else [f"{text}."]

    def functions(self):
        found = [function for function in self.catalog.functions if function.schema == "bsky"]
        return ["### Functions that return a value",
                self.function_table([function for function in found if not function.returns_rows]),
                "### Functions that return rows",
                self.function_table([function for function in found if function.returns_rows])]

    def function_table(self, functions):
        """A function that exists for each table of records has one row."""
        rows = {}
        for function in functions:
            arguments, comment = function.arguments, function.comment
            if match := re.fullmatch(r"(\w+) bsky\.\w+", arguments):
                arguments = f"{match[1]} bsky.<table>"
                comment = comment.split(" (")[0] + ". One function for each table with the records of one collection."
            result = function.result
            if match := re.fullmatch(r"TABLE\((.*)\)", result):
                result = code_list(part.split(" ")[0] for part in match[1].split(", "))
            elif match := re.fullmatch(r"SETOF (.*)", result):
                result = f"rows of `{match[1]}`"
            row = f"| `{function.schema}.{function.name}({arguments})` | {result} | {self.prose(comment)} |"
            rows[row] = None
        return "\n".join(["| function | returns | content |", "|---|---|---|", *rows])


def sentences(text):
    return re.split(r"(?<=[^.]\.) ", text)


def frequent(lists):
    """The values that more than half of the lists have, in the order of the list that has most of them."""
    counts = collections.Counter(value for values in lists for value in dict.fromkeys(values))
    found = {value for value, count in counts.items() if count * 2 > len(lists)}
    fullest = max(lists, key=lambda values: len(found.intersection(values)))
    return [value for value in fullest if value in found] + sorted(found.difference(fullest))


def anchor(title):
    """The anchor of a heading on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def code_list(names):
    return ", ".join(f"`{name}`" for name in names)


def index_text(index):
    kind = "Unique index" if index.is_unique else "Index" if index.method == "btree" else f"{index.method.upper()} index"
    return f"{kind} `{index.name}`: `{index.expression}`"
