#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "event/errc.hpp"

namespace skua::event {

/// Returns the first character from `at` on that ends the plain part of a JSON string (a quote, a
/// backslash or a control character), or `end`. Processes eight bytes per step, because most texts
/// are long.
inline const char* end_of_plain_text(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  // Sets the high bit of each byte that is 0. Bits above the first match may be wrong.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighBits; };
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    const std::uint64_t below_blank = (word - kOnes * 0x20) & ~word & kHighBits;
    if ((zeros(word ^ kOnes * '"') | zeros(word ^ kOnes * '\\') | below_blank) != 0) break;
  }
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

constexpr bool is_json_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Appends the content of a JSON string (the bytes between its quotes) with its escapes resolved
/// (RFC 8259 section 7). Returns false for an invalid escape, half a surrogate pair, or a control
/// character.
bool append_unescaped(std::string& out, std::string_view content);

/// A value within JSON text that was located but not parsed. An empty slice means that there is no
/// value. Cheap to copy; the caller owns the text.
class JsonSlice {
 public:
  JsonSlice() = default;
  explicit JsonSlice(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  /// Returns false for null too, because some producers write null for a missing value.
  bool is_present() const { return !text_.empty() && text_ != "null"; }
  bool is_object() const { return text_.starts_with('{'); }

  /// Returns the content of a string without escapes, or nothing for any other value.
  std::optional<std::string_view> plain_string() const;
  /// Returns the content of a string with its escapes resolved. The result may be invalid UTF-8.
  std::optional<std::string> string() const;
  /// Returns a number without point and exponent that fits into 64 bits.
  std::optional<std::int64_t> integer() const;
  std::optional<bool> boolean() const;

 private:
  std::string_view text_;
};

/// A key to find, and the place to store its value.
struct JsonField {
  std::string_view key;
  JsonSlice& value;
};

/// Walks through the entries of an object without parsing their values, so malformed values can be
/// skipped. Allocates nothing and does not recurse.
class JsonWalker {
 public:
  /// `text` must start with an object; blanks may stand before the object.
  explicit JsonWalker(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// Walks to the end of the object and fills the fields. For a repeated key the first value
  /// counts, so that all readers agree. A key with escapes matches no field. Returns an error if
  /// the text is not an object, or if the object has no end. Fields before the error are filled. A
  /// nested object that has no end is the value of its field.
  Result<void> find(std::initializer_list<JsonField> fields);

  /// Whether only blanks remain.
  bool at_end();

 private:
  struct Entry {
    std::string_view key;
    JsonSlice value;
  };

  Result<void> open();
  /// Returns false if the object has ended.
  Result<bool> next(bool first, Entry& out);
  void skip_blanks();
  /// Each function moves `at_` behind the skipped value, and returns false if the text ends too
  /// early.
  bool skip_string();
  bool skip_value();

  const char* at_;
  const char* end_;
};

/// Converts the text of a JSON record (RFC 8259; atproto.com/specs/data-model, JSON representation)
/// to DAG-CBOR for the record decoder, without building a tree. Keys get DAG-CBOR's order, `$link`
/// becomes a link, `$bytes` becomes bytes (base64, with or without padding), and `123.0` becomes an
/// integer. Other floats stay floats, and the decoder rejects them. Does not check that texts are
/// UTF-8, because `read_dag_cbor` does. Contains scratch memory: use one for each thread.
class JsonTranscoder {
 public:
  /// Appends the single value in `json`. Returns an error if the text is not JSON, a key occurs
  /// twice, or a `$link` or `$bytes` is invalid. A number that needs more than 64 bits is also an
  /// error, as is a nesting deeper than 128. After an error `out` contains a part of the value.
  Result<void> append(std::string_view json, Bytes& out);

 private:
  /// A map's entry in `out_`, with the text of its key, its start and its end.
  struct Entry {
    std::size_t begin;
    std::size_t key;
    std::size_t key_size;
    std::size_t end;
  };

  // Each function reads the value at `at_`, and returns errc{} on success.
  errc value(int depth);
  errc object(int depth);
  errc list(int depth);
  errc number();
  errc literal();
  errc link(std::size_t begin);
  errc bytes(std::size_t begin);
  /// Reads a string with its quotes. `out` is a view into the text, or a view into `unescaped_`
  /// that is valid until the next string.
  errc string(std::string_view& out);

  /// Reads the value of `$link` or `$bytes`, and the end of its object.
  bool only_string(std::string_view& out);
  /// Sorts the entries from `first` on, which belong to one map. Returns an error if a key occurs
  /// twice.
  errc sort(std::size_t first);
  /// Writes the head into the byte that was reserved at `begin`.
  void write_head(std::size_t begin, std::size_t size, bool is_map);
  std::string_view key_of(const Entry& entry) const;
  void skip_blanks();
  /// Consumes `c` and the blanks before it.
  bool take(char c);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  Bytes* out_ = nullptr;
  std::vector<Entry> entries_;  // the entries of all open maps
  Bytes sorted_;
  Bytes head_;
  std::string unescaped_;
};

}  // namespace skua::event
