#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lexicon/schema.hpp"
#include "postgres/session.hpp"
#include "tables/collection_ids.hpp"

namespace skua::lexicon_store {

/// The largest document, in bytes.
inline constexpr std::size_t kMaxDocument = 1'000'000;

/// A lexicon document of a user.
struct Document {
  std::string nsid;
  /// In one line, with sorted keys.
  std::string json;
};

/// Reads a document that may be hostile: at most kMaxDocument bytes, 128 levels, and no NUL, which
/// PostgreSQL cannot store. Checks nothing of the language but the id; `schema_of` does. Throws
/// lexicon::LexiconError.
Document read_document(std::string_view text);

/// Whether the program has a document with this id.
bool is_built_in(std::string_view nsid);

/// The schema of the built-in documents and these. Throws lexicon::LexiconError.
lexicon::Schema schema_of(std::span<const Document> documents);

/// The largest number of properties of a record that has a view.
inline constexpr std::size_t kMaxProperties = 500;

/// A property of a record as a column of a view.
struct Column {
  /// In snake case, at most 63 bytes of a-z, 0-9 and _, unique in the view.
  std::string name;
  /// The property. Any text.
  std::string key;
  /// The type of SQL: text, int8, boolean, timestamptz or jsonb.
  std::string type;
  /// The description of the property, cut to a kilobyte. Any text.
  std::string comment;

  friend bool operator==(const Column&, const Column&) = default;
};

/// The columns of the records that a document defines in this schema, in the order of the keys.
/// The document must define a record. Throws lexicon::LexiconError for too many properties.
std::vector<Column> view_columns(const lexicon::Schema& schema, const Document& document);

/// An identifier in snake case: `test.kitchen-garden.plotSize` becomes
/// `test_kitchen_garden_plot_size`. Longer ones are cut to 63 bytes and end in a hash.
std::string identifier(std::string_view text);
/// The same with a hash of the text at the end, for texts that have the same identifier.
std::string hashed_identifier(std::string_view text);

/// The name of the index of a column. It changes with the property and the type.
std::string index_name(int collection, const Column& column);
/// The beginning of the names of all indexes of a collection.
std::string index_prefix(int collection);

/// A row of `skua.lexicons`.
struct StoredLexicon {
  Document document;
  /// In the schema `lexicon`; empty: the document defines no record.
  std::string view_name;
  std::vector<Column> columns;
};

/// Sorted by NSID. Throws postgres::SqlError, as all here.
std::vector<StoredLexicon> read_lexicons(postgres::Session& session);

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
std::vector<LexiconChange> add_lexicons(postgres::Session& session,
                                        const std::vector<Document>& documents);

/// Removes a document with its view; the indexes stay. Nothing: it is not stored. Throws
/// lexicon::LexiconError if another document needs it.
std::optional<StoredLexicon> remove_lexicon(postgres::Session& session, const std::string& nsid);

}  // namespace skua::lexicon_store
