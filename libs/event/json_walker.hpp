#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::event {

/// A value within JSON text, located but not parsed. Empty: there is no value. Cheap to copy; the
/// caller owns the text.
class JsonSlice {
 public:
  JsonSlice() = default;
  explicit JsonSlice(std::string_view text) : text_(text) {}

  /// The text without surrounding blanks.
  std::string_view text() const { return text_; }
  /// False for null too: some producers write null for a missing value.
  bool is_present() const { return !text_.empty() && text_ != "null"; }
  bool is_object() const { return text_.starts_with('{'); }

  /// The content of a string without escapes; nothing for anything else.
  std::optional<std::string_view> plain_string() const;
  /// The content of a string with its escapes resolved. It may be invalid UTF-8.
  std::optional<std::string> string() const;
  /// A number without point and exponent that fits into 64 bits.
  std::optional<std::int64_t> integer() const;
  std::optional<bool> boolean() const;

 private:
  std::string_view text_;
};

/// A field to find, and where to store it.
struct JsonField {
  std::string_view key;
  JsonSlice& value;
};

/// Walks through the entries of an object without parsing their values; skipped values may be
/// malformed. No allocation, no recursion.
class JsonWalker {
 public:
  /// `text` starts with an object, possibly after blanks.
  explicit JsonWalker(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// Walks to the end of the object and fills the fields. For a repeated key the first value
  /// counts, so that all readers agree; a key with escapes matches no field. Error: not an object,
  /// or the object has no end; fields before the error are filled, and an object that has no end is
  /// the value of its field.
  Result<void> find(std::initializer_list<JsonField> fields);

  /// Whether only blanks follow.
  bool at_end();

 private:
  struct Entry {
    std::string_view key;
    JsonSlice value;
  };

  Result<void> open();
  /// False: the object ended.
  Result<bool> next(bool first, Entry& out);
  void skip_blanks();
  /// Each function moves `at_` behind the skipped value. False: the text ends too early.
  bool skip_string();
  bool skip_value();

  const char* at_;
  const char* end_;
};

}  // namespace skua::event
