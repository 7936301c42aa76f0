#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lexicon_store/document.hpp"
#include "lexicon_store/view_columns.hpp"
#include "store/collection_ids.hpp"
#include "store/session.hpp"

namespace skua::lexicon_store {

/// A row of `skua.lexicons`.
struct StoredLexicon {
  Document document;
  /// In the schema `lexicon`; empty: the document defines no record.
  std::string view_name;
  std::vector<Column> columns;
};

/// Sorted by NSID. Throws store::SqlError, as all here.
std::vector<StoredLexicon> read_lexicons(store::Session& session);

/// What an addition did to a row.
struct LexiconChange {
  StoredLexicon lexicon;
  /// The document was given. Otherwise only the view changed, because it depends on a given one.
  bool is_given = false;
  bool is_changed = false;
};

/// Stores documents in the place of those with the same ids, and creates the views of all records
/// whose columns changed. One transaction, after one that gives numbers to new collections.
/// Concurrent changes wait. Returns the given documents, and those whose views changed. Throws
/// lexicon::LexiconError, and then nothing is changed.
std::vector<LexiconChange> add_lexicons(store::Session& session,
                                        const std::vector<Document>& documents);

/// Removes a document with its view; the indexes stay. Nothing: it is not stored. Throws
/// lexicon::LexiconError if another document needs it.
std::optional<StoredLexicon> remove_lexicon(store::Session& session, const std::string& nsid);

}  // namespace skua::lexicon_store
