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
  /// The text has one line, with sorted keys.
  std::string json;
};

/// Reads a document that may be hostile: at most kMaxDocument bytes, 128 levels, and no NUL, which
/// PostgreSQL cannot store. Of the rules of the language, checks only the id; `schema_of` checks
/// the others. Throws lexicon::LexiconError.
Document read_document(std::string_view text);

/// Whether the program has a document with this id.
bool is_built_in(std::string_view nsid);

/// Returns the schema of the built-in documents and of `documents`. Throws lexicon::LexiconError.
lexicon::Schema schema_of(std::span<const Document> documents);

/// The largest number of properties of a record that has a view.
inline constexpr std::size_t kMaxProperties = 500;

/// A property of a record as a column of a view.
struct Column {
  /// The name in snake case: at most 63 bytes of a-z, 0-9 and _, unique in the view.
  std::string name;
  /// The key of the property, which can be any text.
  std::string key;
  /// The SQL type: text, int8, boolean, timestamptz or jsonb.
  std::string type;
  /// The description of the property, cut to a kilobyte. It can be any text.
  std::string comment;

  friend bool operator==(const Column&, const Column&) = default;
};

/// Returns the columns for the records that a document defines in this schema, in the order of the
/// keys. The document must define a record. Throws lexicon::LexiconError for too many properties.
std::vector<Column> view_columns(const lexicon::Schema& schema, const Document& document);

/// Converts a text to an identifier in snake case: `test.kitchen-garden.plotSize` becomes
/// `test_kitchen_garden_plot_size`. A longer identifier is cut to 63 bytes and ends in a hash.
std::string identifier(std::string_view text);
/// Returns the identifier with a hash of the text at its end, for texts that would have the same
/// identifier.
std::string hashed_identifier(std::string_view text);

/// Returns the name of the index of a column. The name changes with the property and the type.
std::string index_name(int collection, const Column& column);
/// Returns the beginning of the names of all indexes of a collection.
std::string index_prefix(int collection);

/// A row of `skua.lexicons`.
struct StoredLexicon {
  Document document;
  /// The name of the view in the schema `lexicon`. Empty if the document defines no record.
  std::string view_name;
  std::vector<Column> columns;
};

/// Returns the lexicons, sorted by NSID. All functions below throw postgres::SqlError.
std::vector<StoredLexicon> read_lexicons(postgres::Session& session);

/// The effect of an addition on a row.
struct LexiconChange {
  StoredLexicon lexicon;
  /// Whether the caller gave the document. Otherwise only the view changed, because it depends on a
  /// given document.
  bool is_given = false;
  bool is_changed = false;
};

/// Stores documents in the place of those with the same ids, and creates the views of all records
/// whose columns changed. Uses one transaction, after another one that gives numbers to new
/// collections. Concurrent changes wait. Returns the given documents, and those whose views
/// changed. Throws lexicon::LexiconError, and then changes nothing.
std::vector<LexiconChange> add_lexicons(postgres::Session& session,
                                        const std::vector<Document>& documents);

/// Removes a document with its view, but keeps the indexes. Returns nothing if the document is not
/// stored. Throws lexicon::LexiconError if another document needs it.
std::optional<StoredLexicon> remove_lexicon(postgres::Session& session, const std::string& nsid);

}  // namespace skua::lexicon_store
