#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::event {

/// A value where it stands in JSON text, found by its ends and not looked into. Empty: there is
/// none. Cheap to copy; the text is the caller's.
class JsonSlice {
 public:
  JsonSlice() = default;
  explicit JsonSlice(std::string_view text) : text_(text) {}

  /// Without blanks around it.
  std::string_view text() const { return text_; }
  /// False for null too: some producers write null for a missing value.
  bool is_present() const { return !text_.empty() && text_ != "null"; }
  bool is_object() const { return text_.starts_with('{'); }

  /// A string as it stands; nothing when it is none, or is written with escapes.
  std::optional<std::string_view> plain_string() const;
  /// A string, its escapes resolved. Whether it is UTF-8 is not looked at.
  std::optional<std::string> string() const;
  /// A number written without point and exponent that fits.
  std::optional<std::int64_t> integer() const;
  std::optional<bool> boolean() const;

 private:
  std::string_view text_;
};

/// A field that is looked for, and where it goes.
struct JsonField {
  std::string_view key;
  JsonSlice& value;
};

/// Walks the entries of an object without parsing their values; skipped values may be malformed. No
/// allocation, no recursion.
class JsonWalker {
 public:
  /// At an object; blanks may stand before it.
  explicit JsonWalker(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// Walks to the end of the object and fills the fields. Of a repeated key the first counts, so
  /// that all readers agree; a key with escapes matches no field. Error: not an object, or it has
  /// no end; fields before the error are filled.
  Result<void> find(std::initializer_list<JsonField> fields);

  /// Whether only whitespace follows.
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
  /// Each advances `at_` behind the skipped value. False: the text ends before.
  bool skip_string();
  bool skip_value();

  const char* at_;
  const char* end_;
};

}  // namespace skua::event
