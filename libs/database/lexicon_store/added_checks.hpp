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

/// The lexicons that users added, as checks of records. Immutable: any thread.
struct AddedChecks {
  /// The version in `skua.lexicon_state` when the documents were read, or an earlier one.
  std::int64_t version = 0;
  /// The schema of the built-in and the added documents. Nothing if no documents were added, or if
  /// there is a `fault`.
  std::optional<lexicon::Schema> schema;
  /// The reason, for people, why the stored documents cannot be used. Usually empty: `skua lexicon
  /// add` stores no unusable documents, but a person or a newer program can.
  std::string fault;

  /// Returns the object type of a collection's records, or null if the collection has no lexicon.
  const lexicon::Node* record(std::string_view collection) const {
    return schema ? schema->record(collection) : nullptr;
  }
};

/// Returns the current checks, or `known` if their version has not changed. `known` may be null.
/// Throws postgres::SqlError.
std::shared_ptr<const AddedChecks> load_added_checks(
    postgres::Session& session, const std::shared_ptr<const AddedChecks>& known);

/// The indexes of `bsky.records` for the properties of one collection. Builds and drops indexes
/// outside of transactions, while other sessions write. One thread. All functions throw
/// postgres::SqlError.
class PropertyIndexes {
 public:
  /// `session` must outlive this object. The collection must have a number.
  PropertyIndexes(postgres::Session& session, const std::string& collection);

  /// Returns the names of the existing indexes, including incomplete ones.
  std::vector<std::string> names();

  /// Builds the index of a column unless the index exists. An incomplete index is built again.
  /// Texts have a hash index and JSON a GIN index, because a B-tree cannot hold long values.
  /// Returns false if the index existed.
  bool add(const Column& column);

  /// Drops all indexes except those of these columns. Returns the number of dropped indexes.
  std::size_t keep_only(const std::vector<Column>& columns);

 private:
  void drop(const std::string& name);

  postgres::Session& session_;
  int collection_;
};

}  // namespace skua::lexicon_store
