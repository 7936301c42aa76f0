"""The order of the tables of bsky in docs/schema.md: sections, and the tables of each."""

# (title, prefix of the collections, other tables). The tables of records follow by the number of their collection; the
# first prefix that fits decides. A table that has no collection and is not named here comes last.
SECTIONS = (
    ("Posts and feeds", "app.bsky.feed.", ()),
    ("Follows, blocks and lists", "app.bsky.graph.", ()),
    ("Accounts", "", ("actors",)),
    ("Labels, other records and keys", None, ("labels", "records", "collections", "rkeys")),
)


def sections(catalog):
    """[(title, [relation])]: each table of bsky once."""
    tables = {name: relation for name, relation in catalog.of_schema("bsky").items() if not relation.is_view}
    found = []
    for title, prefix, named in SECTIONS:
        names = list(named)
        if prefix is not None:
            names += [name for name, nsid in catalog.collections.items() if name in tables and nsid.startswith(prefix)]
        found.append((title, [tables.pop(name) for name in names]))
    found[-1][1].extend(tables.values())
    return found
