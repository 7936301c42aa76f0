"""The tables of bsky as entity diagrams in Mermaid: the columns of keys and references, and the references.

The database has no foreign keys. The references follow from the names of columns (Relation.reference_of) and from the
comments, which name bsky.actors.id and bsky.collections.id. The target of a reference to a record is in
skua.record_fields, or in TARGETS.
"""

from lib.schema_catalog import SchemaError

# References whose target is no row of skua.record_fields: the usual targets.
TARGETS = {
    ("posts", "parent"): ("posts",),
    ("posts", "root"): ("posts",),
    ("posts", "quote"): ("posts",),
    ("likes", "subject"): ("posts",),
    ("reposts", "subject"): ("posts",),
    ("follows", "via"): ("starter_packs",),
    ("labels", "subject"): ("actors", "posts"),
}
# A column whose comment has the mark refers to the table.
TARGET_MARKS = {"actors": "(bsky.actors.id)", "collections": "(bsky.collections.id)"}


def record_references(catalog, table):
    """{stem: targets} of the references to records."""
    found = {}
    for stem in table.references_to_records():
        if (table.name, stem) in catalog.targets:
            found[stem] = (catalog.targets[table.name, stem],)
        elif (table.name, stem) in TARGETS:
            found[stem] = TARGETS[table.name, stem]
        else:
            raise SchemaError(f"bsky.{table.name}.{stem}_rkey: add its target to skua.record_fields or to "
                              "scripts/lib/schema_diagram.py")
    return found


def edges(catalog, table):
    """The lines of the references of a table."""
    of_records = record_references(catalog, table)
    for column in table.columns:
        reference = table.reference_of(column.name)
        stem = reference[0] if reference else column.name
        target = next((name for name, mark in TARGET_MARKS.items() if mark in column.comment), None)
        if target and stem not in of_records:
            yield edge(table, column, target, stem)
    for stem, targets in of_records.items():
        for target in targets:
            is_of_any = table.column(f"{stem}_collection") and target != "actors"
            yield edge(table, table.column(f"{stem}_rkey"), target, f'"{stem}, any collection"' if is_of_any else stem)


def edge(table, column, target, label):
    is_array = column.type.endswith("[]")
    is_singleton = column.name == "actor_id" and "one per account" in table.comment
    left = "|o" if is_singleton else "}o"
    right = "o{" if is_array else "||" if column.not_null and "any collection" not in label else "o|"
    return f"  {table.name} {left}--{right} {target} : {label}"


def key_lines(table):
    """The columns of keys and of references."""
    unique = {index.expression.strip("()") for index in table.indexes if index.is_unique}
    for column in sorted(table.columns, key=lambda column: key_place(table, column)):
        reference = table.reference_of(column.name)
        is_reference = reference and reference[1] < 3 or any(mark in column.comment for mark in TARGET_MARKS.values())
        kinds = [kind for kind, applies in (("PK", column.name in table.primary_key), ("FK", is_reference),
                                            ("UK", column.name in unique)) if applies]
        if kinds:
            yield f"    {column.type} {column.name} {', '.join(kinds)}"


def key_place(table, column):
    """Sorts the primary key first, then the columns of each reference next to each other."""
    if column.name in table.primary_key:
        return 0, table.primary_key.index(column.name), 0
    reference = table.reference_of(column.name)
    if reference is None:
        return 2, 0, 0
    return 1, table.columns.index(table.column(f"{reference[0]}_actor")), reference[1]


def diagram(catalog, tables):
    lines = ["```mermaid", "erDiagram"]
    for table in tables:
        lines += [f"  {table.name} {{", *key_lines(table), "  }"]
    for table in tables:
        lines += edges(catalog, table)
    return "\n".join([*lines, "```"])
