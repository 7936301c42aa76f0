#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lexicon/schema.hpp"
#include "lexicon_store/document.hpp"

namespace skua::lexicon_store {

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

}  // namespace skua::lexicon_store
