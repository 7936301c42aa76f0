#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "event/errc.hpp"

namespace skua::event {

/// Turns the text of a record in JSON (RFC 8259; atproto.com/specs/data-model, JSON representation)
/// into the DAG-CBOR that the one record decoder reads, without a tree between them: keys in
/// DAG-CBOR order, `$link` a link, `$bytes` bytes (base64, with or without padding), `123.0` an
/// integer. Other floats become floats: the decoder is to find them. That texts are UTF-8 is not
/// checked here, `read_dag_cbor` is the check. Holds scratch memory: one a thread.
class JsonTranscoder {
 public:
  /// Appends the one value that fills `json`. Error: it is no JSON, a key stands twice, a `$link`
  /// or `$bytes` is none, a number is beyond 64 bits, or it is nested deeper than 128; `out` then
  /// has a part of it.
  Result<void> append(std::string_view json, Bytes& out);

 private:
  /// A map's entry in `out_`: its key's text, and where it begins and ends.
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
  /// A string with its quotes. The view: into the text, or `unescaped_` until the next string.
  errc string(std::string_view& out);

  /// The value of `$link` or `$bytes` with the end of its object.
  bool only_string(std::string_view& out);
  /// Puts the entries from `first` on in order, all of one map. Error: a key twice.
  errc sort(std::size_t first);
  /// Writes the head for which a byte was left at `begin`.
  void write_head(std::size_t begin, std::size_t size, bool is_map);
  std::string_view key_of(const Entry& entry) const;
  void skip_blanks();
  /// Takes this character and the blanks before it.
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
