#pragma once

#include <string>
#include <vector>

#include "lexicon_store/view_columns.hpp"
#include "store/session.hpp"

namespace skua::lexicon_store {

/// The indexes of `bsky.records` for the properties of one collection. Builds and drops them while
/// others write, outside a transaction. One thread. All throw store::SqlError.
class PropertyIndexes {
 public:
  /// `session` outlives it. The collection must have a number.
  PropertyIndexes(store::Session& session, const std::string& collection);

  /// The names of those that exist, also incomplete ones.
  std::vector<std::string> names();

  /// Builds the index of a column unless it exists; an incomplete one is built again. Texts have a
  /// hash index and JSON a GIN index, because a B-tree cannot hold long values. False: it existed.
  bool add(const Column& column);

  /// Drops all but those of these columns. Returns how many.
  std::size_t keep_only(const std::vector<Column>& columns);

 private:
  void drop(const std::string& name);

  store::Session& session_;
  int collection_;
};

}  // namespace skua::lexicon_store
