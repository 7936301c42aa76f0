#include "lexicon_store/added_checks.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "lexicon/schema_builder.hpp"
#include "lexicon_store/added_checks.sql.hpp"
#include "lexicon_store/lexicon_table.hpp"
#include "tables/collection_ids.hpp"

namespace skua::lexicon_store {

namespace {

std::string method_of(const Column& column) {
  if (column.type == "text") return "hash";
  return column.type == "jsonb" ? "gin" : "btree";
}

int number_of(postgres::Session& session, const std::string& collection) {
  const std::array<std::string_view, 1> collections = {collection};
  const int number = tables::CollectionIds().ids_of(session, collections).front();
  if (number == 0) {
    throw lexicon::LexiconError("another collection has the number of '" + collection + "'");
  }
  return number;
}

}  // namespace

std::shared_ptr<const AddedChecks> load_added_checks(
    postgres::Session& session, const std::shared_ptr<const AddedChecks>& known) {
  const std::int64_t version = session.query_one<std::int64_t>(sql::lexicons_version);
  if (known && known->version == version) return known;
  auto checks = std::make_shared<AddedChecks>();
  checks->version = version;
  const auto documents = session.query<Document>(sql::lexicons_documents);
  if (documents.empty()) return checks;
  try {
    checks->schema = schema_of(documents);
  } catch (const lexicon::LexiconError& error) {
    checks->fault = error.what();
  }
  return checks;
}

PropertyIndexes::PropertyIndexes(postgres::Session& session, const std::string& collection)
    : session_(session), collection_(number_of(session, collection)) {}

std::vector<std::string> PropertyIndexes::names() {
  return session_.query<std::string>(sql::lexicon_index_names, index_prefix(collection_));
}

bool PropertyIndexes::add(const Column& column) {
  const std::string name = index_name(collection_, column);
  if (const auto is_valid = session_.query_first<bool>(sql::lexicon_index_is_valid, name)) {
    if (*is_valid) return false;
    drop(name);
  }
  const std::string method = method_of(column);
  session_.run(session_.query_one<std::string>(sql::lexicon_index_create, name, method, column.type,
                                               column.key, method == "gin" ? " jsonb_path_ops" : "",
                                               collection_));
  session_.execute(sql::lexicon_index_analyze);
  return true;
}

std::size_t PropertyIndexes::keep_only(const std::vector<Column>& columns) {
  std::size_t dropped = 0;
  for (const std::string& name : names()) {
    if (std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
          return index_name(collection_, column) == name;
        })) {
      continue;
    }
    drop(name);
    ++dropped;
  }
  return dropped;
}

// A name cannot be a parameter of a statement. The name is an identifier, which needs no quotes
// inside.
void PropertyIndexes::drop(const std::string& name) {
  session_.run("DROP INDEX CONCURRENTLY IF EXISTS bsky.\"" + name + '"');
}

}  // namespace skua::lexicon_store
