#include "lexicon_store/property_index.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lexicon_store/property_index.sql.hpp"
#include "store/collection_ids.hpp"

namespace skua::lexicon_store {
namespace {

using store::Params;
using store::Rows;

std::string method_of(const Column& column) {
  if (column.type == "text") return "hash";
  return column.type == "jsonb" ? "gin" : "btree";
}

int number_of(store::Session& session, const std::string& collection) {
  const std::array<std::string_view, 1> collections = {collection};
  return store::CollectionIds().ids_of(session, collections).front();
}

}  // namespace

PropertyIndexes::PropertyIndexes(store::Session& session, const std::string& collection)
    : session_(session), collection_(number_of(session, collection)) {}

std::vector<std::string> PropertyIndexes::names() {
  return session_.query<std::string>(sql::lexicon_index_names, index_prefix(collection_));
}

bool PropertyIndexes::add(const Column& column) {
  const std::string name = index_name(collection_, column);
  const Rows state = session_.execute(sql::lexicon_index_is_valid, Params().text(name));
  if (!state.empty() && state.boolean(0, 0)) return false;
  if (!state.empty()) drop(name);
  const std::string method = method_of(column);
  const Rows text = session_.execute(sql::lexicon_index_create,
                                     Params()
                                         .text(name)
                                         .text(method)
                                         .text(column.type)
                                         .text(column.key)
                                         .text(method == "gin" ? " jsonb_path_ops" : "")
                                         .int4(collection_));
  session_.run(std::string(text.text(0, 0)));
  session_.run("ANALYZE bsky.records");
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

// The name is an identifier, which needs no quotes.
void PropertyIndexes::drop(const std::string& name) {
  session_.run("DROP INDEX CONCURRENTLY IF EXISTS bsky.\"" + name + '"');
}

}  // namespace skua::lexicon_store
