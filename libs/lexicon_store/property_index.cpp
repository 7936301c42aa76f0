#include "lexicon_store/property_index.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "store/collection_ids.hpp"
#include "store/first_column.hpp"

namespace skua::lexicon_store {
namespace {

using store::Params;
using store::Rows;
using store::Statement;

const Statement kNames{
    "lexicon_index_names",
    "SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE "
    "i.indrelid = 'bsky.records'::regclass AND starts_with(c.relname, $1::text) ORDER BY 1"};
const Statement kIsValid{
    "lexicon_index_is_valid",
    "SELECT i.indisvalid FROM pg_index AS i WHERE i.indexrelid = to_regclass('bsky.' || "
    "quote_ident($1::text))"};
const Statement kCreateText{
    "lexicon_index_create",
    "SELECT format('CREATE INDEX CONCURRENTLY %I ON bsky.records USING %s (%s) WHERE "
    "collection_id = %s', $1::text, $2::text, skua.lexicon_expression($3::text, $4::text) || "
    "$5::text, $6::int4)"};

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
  return store::first_column(session_.execute(kNames, Params().text(index_prefix(collection_))));
}

bool PropertyIndexes::add(const Column& column) {
  const std::string name = index_name(collection_, column);
  const Rows state = session_.execute(kIsValid, Params().text(name));
  if (!state.empty() && state.boolean(0, 0)) return false;
  if (!state.empty()) drop(name);
  const std::string method = method_of(column);
  const Rows text =
      session_.execute(kCreateText, Params()
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
