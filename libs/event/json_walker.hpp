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
  /// False for null too, which some producers write for what is absent.
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

/// Walks an object's entries without looking into their values: what is skipped may be wrong
/// within. No memory, no recursion.
class JsonWalker {
 public:
  /// At an object; blanks may stand before it.
  explicit JsonWalker(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// Walks to the object's end and fills the fields that it meets. Of a key that stands twice the
  /// first counts, so that all who look see the same; a key written with escapes is none of these.
  /// Error: this is no object, or it has no end; what was met before is filled.
  Result<void> find(std::initializer_list<JsonField> fields);

  /// Whether only blanks follow what was walked.
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
  /// Each leaves `at_` behind what it skips. False: the text ends before.
  bool skip_string();
  bool skip_value();

  const char* at_;
  const char* end_;
};

}  // namespace skua::event
