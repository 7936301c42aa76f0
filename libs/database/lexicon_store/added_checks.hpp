#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lexicon/schema.hpp"
#include "lexicon_store/lexicon_table.hpp"
#include "postgres/session.hpp"

namespace skua::lexicon_store {

/// The lexicons that were added, as checks of records. Immutable: any thread.
struct AddedChecks {
  /// Of `skua.lexicon_state`, when or before the documents were read.
  std::int64_t version = 0;
  /// The built-in and the added documents. Nothing: none were added, or `fault`.
  std::optional<lexicon::Schema> schema;
  /// Why the stored documents cannot be used, for people; usually empty. `skua lexicon add` stores
  /// no such documents, but a person or a newer program can.
  std::string fault;

  /// The object of the records of a collection; null: it has no lexicon.
  const lexicon::Node* record(std::string_view collection) const {
    return schema ? schema->record(collection) : nullptr;
  }
};

/// The present ones: `known` if their version has not changed. `known` may be null. Throws
/// postgres::SqlError.
std::shared_ptr<const AddedChecks> load_added_checks(
    postgres::Session& session, const std::shared_ptr<const AddedChecks>& known);

/// The indexes of `bsky.records` for the properties of one collection. Builds and drops them while
/// others write, outside a transaction. One thread. All throw postgres::SqlError.
class PropertyIndexes {
 public:
  /// `session` outlives it. The collection must have a number.
  PropertyIndexes(postgres::Session& session, const std::string& collection);

  /// The names of those that exist, also incomplete ones.
  std::vector<std::string> names();

  /// Builds the index of a column unless it exists; an incomplete one is built again. Texts have a
  /// hash index and JSON a GIN index, because a B-tree cannot hold long values. False: it existed.
  bool add(const Column& column);

  /// Drops all but those of these columns. Returns how many.
  std::size_t keep_only(const std::vector<Column>& columns);

 private:
  void drop(const std::string& name);

  postgres::Session& session_;
  int collection_;
};

}  // namespace skua::lexicon_store
