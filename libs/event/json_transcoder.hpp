#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "event/errc.hpp"

namespace skua::event {

/// Converts the text of a JSON record (RFC 8259; atproto.com/specs/data-model, JSON representation)
/// to DAG-CBOR for the record decoder, without building a tree: keys in DAG-CBOR order, `$link`
/// becomes a link, `$bytes` becomes bytes (base64, with or without padding), `123.0` becomes an
/// integer. Other floats stay floats, and the decoder rejects them. It does not check that texts
/// are UTF-8; `read_dag_cbor` does. Contains scratch memory: use one for each thread.
class JsonTranscoder {
 public:
  /// Appends the single value in `json`. Error: it is not JSON, a key occurs twice, a `$link` or
  /// `$bytes` is invalid, a number needs more than 64 bits, or the nesting is deeper than 128;
  /// `out` then contains a part of it.
  Result<void> append(std::string_view json, Bytes& out);

 private:
  /// A map's entry in `out_`: the text of its key, its start and its end.
  struct Entry {
    std::size_t begin;
    std::size_t key;
    std::size_t key_size;
    std::size_t end;
  };

  // Each reads the value at `at_`; errc{} is success.
  errc value(int depth);
  errc object(int depth);
  errc list(int depth);
  errc number();
  errc literal();
  errc link(std::size_t begin);
  errc bytes(std::size_t begin);
  /// A string with its quotes. `out` is a view into the text, or into `unescaped_` until the next
  /// string.
  errc string(std::string_view& out);

  /// The value of `$link` or `$bytes`, and the end of its object.
  bool only_string(std::string_view& out);
  /// Sorts the entries from `first` on; they belong to one map. Error: a key occurs twice.
  errc sort(std::size_t first);
  /// Writes the head into the byte that was reserved at `begin`.
  void write_head(std::size_t begin, std::size_t size, bool is_map);
  std::string_view key_of(const Entry& entry) const;
  void skip_blanks();
  /// Consumes this character and the blanks before it.
  bool take(char c);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  Bytes* out_ = nullptr;
  std::vector<Entry> entries_;  // of all open maps
  Bytes sorted_;
  Bytes head_;
  std::string unescaped_;
};

}  // namespace skua::event
