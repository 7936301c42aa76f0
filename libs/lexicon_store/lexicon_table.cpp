#include "lexicon_store/lexicon_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "lexicon/lexicon_error.hpp"
#include "lexicon_store/lexicon_table.sql.hpp"

namespace skua::lexicon_store {
namespace {

using nlohmann::json;
using store::Session;

/// A row of lexicons_read.
struct LexiconRow {
  std::string nsid;
  std::string document;
  std::optional<std::string> view_name;
  std::optional<std::string> columns;
};

std::string columns_text(const std::vector<Column>& columns) {
  json array = json::array();
  for (const Column& column : columns) {
    array.push_back({{"name", column.name},
                     {"key", column.key},
                     {"type", column.type},
                     {"comment", column.comment}});
  }
  return array.dump();
}

std::vector<Column> columns_of(std::string_view text) {
  std::vector<Column> columns;
  for (const json& column : json::parse(text)) {
    columns.push_back({.name = column.at("name").get<std::string>(),
                       .key = column.at("key").get<std::string>(),
                       .type = column.at("type").get<std::string>(),
                       .comment = column.at("comment").get<std::string>()});
  }
  return columns;
}

std::vector<StoredLexicon> read_rows(Session& session) {
  std::vector<StoredLexicon> lexicons;
  for (LexiconRow& row : session.query<LexiconRow>(sql::lexicons_read)) {
    StoredLexicon& lexicon = lexicons.emplace_back();
    lexicon.document.nsid = std::move(row.nsid);
    // With sorted keys, as read_document returns it.
    lexicon.document.json = json::parse(row.document).dump();
    lexicon.view_name = std::move(row.view_name).value_or("");
    if (row.columns) lexicon.columns = columns_of(*row.columns);
  }
  return lexicons;
}

using ByNsid = std::map<std::string, StoredLexicon, std::less<>>;

ByNsid by_nsid(std::vector<StoredLexicon> lexicons) {
  ByNsid all;
  for (StoredLexicon& lexicon : lexicons) {
    std::string nsid = lexicon.document.nsid;
    all.emplace(std::move(nsid), std::move(lexicon));
  }
  return all;
}

std::vector<Document> documents_of(const ByNsid& all) {
  std::vector<Document> documents;
  for (const auto& [nsid, lexicon] : all) documents.push_back(lexicon.document);
  return documents;
}

std::string free_view_name(const ByNsid& all, const std::string& nsid) {
  const std::string name = identifier(nsid);
  const bool is_taken = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
    return entry.first != nsid && entry.second.view_name == name;
  });
  return is_taken ? hashed_identifier(nsid) : name;
}

/// A name cannot be a parameter. `view_name` is an identifier, which needs no quotes.
void drop_view(Session& session, const std::string& view_name) {
  session.run("DROP VIEW IF EXISTS lexicon.\"" + view_name + '"');
}

void put(Session& session, const StoredLexicon& lexicon) {
  session.execute(sql::lexicons_put, lexicon.document.nsid, lexicon.document.json,
                  lexicon.view_name, columns_text(lexicon.columns));
}

/// Gives a lexicon its view and columns in the schema. True: they changed.
bool update_view(Session& session, const lexicon::Schema& schema, const ByNsid& all,
                 StoredLexicon& lexicon) {
  const std::string& nsid = lexicon.document.nsid;
  if (schema.record(nsid) == nullptr) {
    if (lexicon.view_name.empty()) return false;
    drop_view(session, lexicon.view_name);
    lexicon.view_name.clear();
    lexicon.columns.clear();
    return true;
  }
  auto columns = view_columns(schema, lexicon.document);
  if (!lexicon.view_name.empty() && columns == lexicon.columns) return false;
  if (lexicon.view_name.empty()) lexicon.view_name = free_view_name(all, nsid);
  lexicon.columns = std::move(columns);
  session.execute(sql::lexicons_make_view, lexicon.view_name, nsid, columns_text(lexicon.columns));
  return true;
}

/// Checks the documents with those that are stored, and gives numbers to their collections.
void number_collections(Session& session, const std::vector<Document>& documents) {
  ByNsid all = by_nsid(read_rows(session));
  std::set<std::string_view> given;
  for (const Document& document : documents) {
    if (!given.insert(document.nsid).second) {
      throw lexicon::LexiconError(document.nsid + ": is given twice");
    }
    all[document.nsid].document = document;
  }
  const lexicon::Schema schema = schema_of(documents_of(all));
  std::erase_if(given, [&](std::string_view nsid) { return schema.record(nsid) == nullptr; });
  const std::vector<std::string_view> collections(given.begin(), given.end());
  store::CollectionIds().ids_of(session, collections);
}

}  // namespace

std::vector<StoredLexicon> read_lexicons(Session& session) {
  return read_rows(session);
}

std::vector<LexiconChange> add_lexicons(Session& session, const std::vector<Document>& documents) {
  number_collections(session, documents);
  store::Transaction transaction(session);
  session.execute(sql::lexicons_lock);
  ByNsid all = by_nsid(read_rows(session));
  std::map<std::string_view, LexiconChange> changes;
  for (const Document& document : documents) {
    Document& stored = all[document.nsid].document;
    changes[document.nsid] = {
        .lexicon = {}, .is_given = true, .is_changed = stored.json != document.json};
    stored = document;
  }
  const lexicon::Schema schema = schema_of(documents_of(all));
  for (auto& [nsid, lexicon] : all) {
    if (update_view(session, schema, all, lexicon)) changes[nsid].is_changed = true;
    const auto change = changes.find(nsid);
    if (change == changes.end()) continue;
    change->second.lexicon = lexicon;
    if (change->second.is_changed) put(session, lexicon);
  }
  transaction.commit();
  std::vector<LexiconChange> result;
  result.reserve(changes.size());
  for (auto& [nsid, change] : changes) result.push_back(std::move(change));
  return result;
}

std::optional<StoredLexicon> remove_lexicon(Session& session, const std::string& nsid) {
  store::Transaction transaction(session);
  session.execute(sql::lexicons_lock);
  ByNsid all = by_nsid(read_rows(session));
  const auto found = all.find(nsid);
  if (found == all.end()) return std::nullopt;
  StoredLexicon removed = std::move(found->second);
  all.erase(found);
  schema_of(documents_of(all));
  session.execute(sql::lexicons_remove, nsid);
  if (!removed.view_name.empty()) drop_view(session, removed.view_name);
  transaction.commit();
  return removed;
}

}  // namespace skua::lexicon_store
