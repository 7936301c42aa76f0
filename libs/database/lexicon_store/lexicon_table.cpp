#include "lexicon_store/lexicon_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/sha256.hpp"
#include "atproto/syntax.hpp"
#include "base/bytes.hpp"
#include "lexicon/built_in.hpp"
#include "lexicon/schema_builder.hpp"
#include "lexicon_store/lexicon_table.sql.hpp"

namespace skua::lexicon_store {

namespace {

using lexicon::LexiconError;
using nlohmann::json;

constexpr int kMaxLevels = 128;

/// The parser calls this function for each value.
bool check_part(int depth, json::parse_event_t event, json& part) {
  if (depth > kMaxLevels) throw LexiconError("is nested too deeply");
  const bool may_be_text = event == json::parse_event_t::key || event == json::parse_event_t::value;
  if (may_be_text && part.is_string() &&
      part.get_ref<const std::string&>().find('\0') != std::string::npos) {
    throw LexiconError("has a NUL in a text");
  }
  return true;
}

std::string checked_id(const json& document) {
  const auto id = document.find("id");
  if (id == document.end() || !id->is_string() || !atproto::is_nsid(id->get<std::string>())) {
    throw LexiconError("id: must be an NSID");
  }
  return id->get<std::string>();
}

std::set<std::string, std::less<>> built_in_ids() {
  std::set<std::string, std::less<>> ids;
  for (const std::string_view text : lexicon::built_in_documents()) {
    ids.insert(checked_id(json::parse(text)));
  }
  return ids;
}

using lexicon::Format;
using lexicon::Kind;

constexpr std::size_t kMaxIdentifier = 63;
constexpr std::size_t kMaxComment = 1'000;

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/// Converts a text to snake case, without a limit of the length.
std::string snake_case(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_lower(c)) {
      out += c;
    } else if (is_upper(c)) {
      const bool is_after_lower = i > 0 && is_lower(text[i - 1]);
      // The last letter of an acronym begins the next word: "aDIDDoc" is a_did_doc.
      const bool is_word = i > 0 && is_upper(text[i - 1]) && i + 1 < text.size() &&
                           text[i + 1] >= 'a' && text[i + 1] <= 'z';
      if (is_after_lower || is_word) out += '_';
      out += static_cast<char>(c - 'A' + 'a');
    } else if (!out.ends_with('_')) {
      out += '_';
    }
  }
  if (out.empty()) out = "_";
  return out;
}

/// Returns 8 hexadecimal digits.
std::string short_hash(std::string_view text) {
  const auto digest = atproto::sha256(as_bytes(text));
  return fmt::format("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

std::string with_ending(std::string name, const std::string& ending) {
  name.resize(std::min(name.size(), kMaxIdentifier - ending.size()));
  return name + ending;
}

/// Returns a prefix of valid UTF-8 that is also valid UTF-8.
std::string cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text;
}

const char* column_type(const lexicon::Node& node) {
  switch (node.kind) {
    case Kind::String:
      return node.format == Format::Datetime ? "timestamptz" : "text";
    case Kind::Integer:
      return "int8";
    case Kind::Boolean:
      return "boolean";
    default:
      return "jsonb";
  }
}

std::string comment_of(const nlohmann::json& properties, const std::string& key) {
  if (const auto property = properties.find(key); property != properties.end()) {
    const auto description = property->find("description");
    if (description != property->end() && description->is_string()) {
      return cut(description->get<std::string>(), kMaxComment);
    }
  }
  return cut(fmt::format("The property {} of the record.", key), kMaxComment);
}

/// Returns the names of the columns that each view has, and of the columns that PostgreSQL gives to
/// each table.
std::set<std::string> reserved_names() {
  return {"uri",      "did",  "handle", "name", "rkey_text", "indexed_at", "cid",  "rev",
          "actor_id", "rkey", "ctid",   "xmin", "cmin",      "xmax",       "cmax", "tableoid"};
}

using postgres::Session;

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
    // The dump has sorted keys, as the text of read_document has.
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

/// A name cannot be a parameter of a statement. `view_name` is an identifier, which needs no quotes
/// inside.
void drop_view(Session& session, const std::string& view_name) {
  session.run("DROP VIEW IF EXISTS lexicon.\"" + view_name + '"');
}

void put(Session& session, const StoredLexicon& lexicon) {
  session.execute(sql::lexicons_put, lexicon.document.nsid, lexicon.document.json,
                  lexicon.view_name, columns_text(lexicon.columns));
}

/// Makes the view of a lexicon with its columns in the schema. Returns whether they changed.
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

/// Checks the documents together with the stored ones, and gives numbers to their collections.
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
  tables::CollectionIds().ids_of(session, collections);
}

}  // namespace

Document read_document(std::string_view text) {
  if (text.size() > kMaxDocument) {
    throw LexiconError(fmt::format("has more than {} bytes", kMaxDocument));
  }
  const json document = json::parse(text, check_part, false);
  if (document.is_discarded()) throw LexiconError("not JSON");
  if (!document.is_object()) throw LexiconError("must be an object");
  return {.nsid = checked_id(document), .json = document.dump()};
}

bool is_built_in(std::string_view nsid) {
  static const auto ids = built_in_ids();
  return ids.contains(nsid);
}

lexicon::Schema schema_of(std::span<const Document> documents) {
  lexicon::SchemaBuilder builder;
  for (const std::string_view text : lexicon::built_in_documents()) builder.add(text);
  for (const Document& document : documents) builder.add(document.json);
  return std::move(builder).build();
}

std::string identifier(std::string_view text) {
  std::string name = snake_case(text);
  return name.size() <= kMaxIdentifier ? name
                                       : with_ending(std::move(name), '_' + short_hash(text));
}

std::string hashed_identifier(std::string_view text) {
  return with_ending(snake_case(text), '_' + short_hash(text));
}

std::vector<Column> view_columns(const lexicon::Schema& schema, const Document& document) {
  const auto fields = schema.fields(*schema.record(document.nsid));
  if (fields.size() > kMaxProperties) {
    throw lexicon::LexiconError(fmt::format("{}: defs.main.record.properties: more than {}",
                                            document.nsid, kMaxProperties));
  }
  const nlohmann::json::json_pointer place("/defs/main/record/properties");
  const auto properties =
      nlohmann::json::parse(document.json).value(place, nlohmann::json::object());
  std::set<std::string> names = reserved_names();
  std::vector<Column> columns;
  for (const lexicon::Field& field : fields) {
    const std::string base = identifier(field.key);
    std::string name = base;
    for (int n = 2; !names.insert(name).second; ++n)
      name = with_ending(base, fmt::format("_{}", n));
    columns.push_back({.name = std::move(name),
                       .key = field.key,
                       .type = column_type(schema.node(field.node)),
                       .comment = comment_of(properties, field.key)});
  }
  return columns;
}

std::string index_prefix(int collection) {
  return fmt::format("lexicon_{}_", collection);
}

std::string index_name(int collection, const Column& column) {
  return with_ending(index_prefix(collection) + column.name,
                     '_' + short_hash(column.type + ' ' + column.key));
}

std::vector<StoredLexicon> read_lexicons(Session& session) {
  return read_rows(session);
}

std::vector<LexiconChange> add_lexicons(Session& session, const std::vector<Document>& documents) {
  number_collections(session, documents);
  postgres::Transaction transaction(session);
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
  postgres::Transaction transaction(session);
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
