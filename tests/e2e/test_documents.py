"""The commands and statements in the documentation work, and what it says about the database is true.

test_readme.py runs the commands of README.md and of the pages after it. The SQL of docs/queries.md runs exactly as written.
"""

import os
import re
import subprocess
import unittest

import filled
from harness import ROOT, EndToEnd, server_url
from made import busy_network


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


def queries():
    """The statements of docs/queries.md by name. Variables of psql are their arguments."""
    found = [re.fullmatch(r"-- ([a-z-]+)\n(.*);\n", block, re.DOTALL) for block in blocks("docs/queries.md", "sql")]
    return {match[1]: match[2] for match in found}


def variables():
    """Values for the arguments of the queries, as commands of psql: those of the document, and fixed accounts and
    records, which the document takes from the database of its reader."""
    (block,) = blocks("docs/queries.md", "psql")
    settings = re.findall(r"^\\set .*\n", block, re.MULTILINE)
    post = "https://bsky.app/profile/bsky.app/post/3l6oveex3ii2l"
    return "".join(["\\set account bsky.app\n", *(f"\\set {name} {post}\n" for name in ("post", "record", "target")), *settings])


def queries_of_the_readme():
    commands = "".join(blocks("README.md", "sh"))
    return re.findall(r'psql -c "(.*)"$', commands, re.MULTILINE)


def documents():
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("libs/**/*.md"), *ROOT.glob("bench/*.md")]


def anchors(document):
    """The anchors of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def links(document):
    """The links of a document to files, as (path, anchor)."""
    found = re.findall(r"\]\(([^)#:]+)(?:#([^)]+))?\)", document.read_text())
    return {((document.parent / path).resolve(), anchor) for path, anchor in found}


class Documents(EndToEnd):
    def test_the_queries(self):
        network, _ = busy_network(accounts=3, rounds=3)
        capture = self.folder / "queries.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        statements = queries()
        self.assertGreaterEqual(len(statements), 40)
        for name, statement in statements.items():
            with self.subTest(name):
                database.run(variables() + statement + ";")
        for block in blocks("docs/first-hour.md", "sql"):
            with self.subTest(block):
                database.run(block)

    def test_the_block_for_psql_works_from_its_top(self):
        database = self.database()
        filled.fill(database, rows=50, accounts=5, known=100)
        (block,) = blocks("docs/queries.md", "psql")
        printed = "".join(f"\\echo :{name}\n" for name in sorted({name for statement in queries().values() for name in re.findall(r":'(\w+)'", statement)}))
        lines = database.run(block + printed).splitlines()
        self.assertGreater(sum("app.bsky.feed.post" in line for line in lines), 3)
        self.assertEqual([line for line in lines if line.startswith(":")], [], "a variable that the block does not set")

    def test_the_accounts_that_they_name_are_valid(self):
        documents = ["README.md", *sorted(path.relative_to(ROOT) for path in ROOT.glob("docs/*.md"))]
        text = "".join((ROOT / document).read_text() for document in documents)
        # `did:plc:...` in an example stands for any account.
        dids = {did.rstrip(".") for did in re.findall(r"did:[a-z]+:[^\s\"'`/|,)]+", text)} - {"did:plc:"}
        before = r"(?:actor_id\('|skua (?:backfill|identity|repo \w+) )"
        handles = set(re.findall(before + r"([a-z0-9-]+(?:\.[a-z0-9-]+)+)", text))
        self.assertGreater(len(dids), 1)
        self.assertGreater(len(handles), 0)
        for did in dids:
            with self.subTest(did):
                self.assertRegex(did, r"^did:plc:[a-z2-7]{24}$")
        for handle in handles:
            with self.subTest(handle):
                # Domains that are not allowed in handles (libs/identity/documents/handle_check.cpp).
                self.assertNotRegex(handle, r"\.(alt|arpa|example|internal|invalid|local|localhost|onion)$")

    def test_schema_md_is_generated_from_the_database(self):
        done = subprocess.run(
            [ROOT / "scripts/schema_docs", "--check"], env={**os.environ, "SKUA_TEST_DATABASE_URL": server_url()},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_relations_and_functions_that_they_name_exist(self):
        database = self.database()
        relations = set(database.run(r"""
            select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname in ('bsky', 'skua') and c.relkind in ('r', 'p', 'v') and not c.relispartition""").split())
        functions = set(database.run("""
            select n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where n.nspname in ('bsky', 'skua')""").split())
        self.assertGreater(len(relations), 80)
        for document in documents():
            # The glossary names retired tables, and the changelog may.
            if document.name in ("glossary.md", "CHANGELOG.md") or "adr" in document.parts:
                continue
            named = set(re.findall(r"(?<![\w.@/-])(?:bsky|skua)\.[a-z_]+", document.read_text()))
            with self.subTest(document.relative_to(ROOT)):
                self.assertEqual(named - relations - functions - {"bsky.app", "skua.service", "skua.toml"}, set())
        # Every relation and function of bsky, and every table of skua, has a line or a section.
        text = (ROOT / "docs/schema.md").read_text()
        self.assertEqual([name for name in relations | functions if name.startswith("bsky.") and name not in text], [])
        self.assertEqual([name for name in relations if name.startswith("skua.") and f"`{name[5:]}`" not in text], [])

    def test_links_and_paths_exist(self):
        for document in documents():
            for path, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", document.read_text()):
                with self.subTest(f"{document.relative_to(ROOT)}: {path}#{anchor}"):
                    self.assertIn(anchor, anchors(document.parent / path if path else document))
            for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
                with self.subTest(f"{document.relative_to(ROOT)}: {target}"):
                    self.assertTrue((document.parent / target).exists())
        for document in documents():
            text = document.read_text()
            paths = re.findall(r"`((?:apps|bench|libs|schema|scripts|tests)/[\w/.-]+)`", text)
            paths += ["tests/" + path for path in re.findall(r"`((?:\w+/)+\w+_test\.cpp|e2e/test_\w+\.py)`", text)]
            for path in paths:
                with self.subTest(f"{document.relative_to(ROOT)}: {path}"):
                    self.assertTrue((ROOT / path).exists())

    def test_frequent_questions_are_answered_two_clicks_from_the_readme(self):
        for question, page, anchor in (
            ("Where are the settings?", "docs/settings.md", ""),
            ("What does `consumer-stuck` mean, and what do I do?", "docs/problems.md", "consumer-stuck"),
            ("How large a disk do I need for the whole network?", "docs/size.md", "the-whole-network"),
        ):
            with self.subTest(question):
                first = {path for path, _ in links(ROOT / "README.md")}
                reached = set().union(*(links(path) for path in first if path.suffix == ".md"))
                self.assertIn((ROOT / page, anchor), reached)

    def test_the_map_has_every_page(self):
        pages = {path for path in ROOT.glob("docs/*.md") if path.name != "README.md"}
        linked = {path for path, _ in links(ROOT / "docs/README.md")}
        self.assertEqual(pages - linked, set())
        self.assertIn(ROOT / "docs/README.md", {path for path, _ in links(ROOT / "README.md")})

    def test_each_library_has_a_short_readme(self):
        for folder in sorted(path for path in ROOT.glob("libs/*/*") if path.is_dir()):
            with self.subTest(folder.name):
                lines = (folder / "README.md").read_text().splitlines()
                self.assertEqual(lines[0], f"# {folder.name}")
                labels = [match[1] for line in lines if (match := re.match(r"- \*\*([^*]+)\*\*: ", line))]
                self.assertEqual(labels, ["Not here", "Start with", "Owner and threads", "Implements", "Tests"])
                self.assertLessEqual(len(lines), 15)

    def test_pages_have_an_introduction_and_no_heading_twice(self):
        for page in ROOT.glob("docs/*.md"):
            with self.subTest(page.name):
                lines = page.read_text().splitlines()
                self.assertRegex(lines[0], r"^# \S")
                # A paragraph comes first: a reader learns what the page is about.
                self.assertRegex(lines[2], r"^[^#|!<`-]|^`")
                found = anchors(page)
                self.assertEqual([anchor for anchor in found if re.fullmatch(r".*-\d", anchor)
                                  and anchor[:-2] in found], [])

    def test_pictures_are_made_from_their_texts(self):
        done = subprocess.run([ROOT / "scripts/pictures", "--check"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_tests_against_defects_of_the_reference_exist(self):
        tests = ROOT / "tests"
        (section,) = re.findall(r"^## Defects of the reference\n(.*?)^## ", (tests / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        rows = [row.split("|")[2] for row in re.findall(r"^\|.*$", section, re.MULTILINE)][2:]
        self.assertEqual(len(rows), 10)
        for row in rows:
            named = re.findall(r"`([\w/]+\.(?:cpp|py))`: ((?:`\w+`(?:, )?)+)", row)
            self.assertTrue(named, row)
            for path, names in named:
                text = (tests / path).read_text()
                for name in re.findall(r"\w+", names):
                    with self.subTest(f"{path}: {name}"):
                        self.assertRegex(text, rf"TEST(?:_[FP])?\(\w+,\s+{name}\)|def {name}\(self\)")


if __name__ == "__main__":
    unittest.main()
