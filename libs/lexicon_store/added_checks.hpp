#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lexicon/schema.hpp"
#include "store/session.hpp"

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
/// store::SqlError.
std::shared_ptr<const AddedChecks> load_added_checks(
    store::Session& session, const std::shared_ptr<const AddedChecks>& known);

}  // namespace skua::lexicon_store
