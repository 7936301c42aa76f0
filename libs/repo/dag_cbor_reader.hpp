#pragma once

#include <cstddef>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::repo {

struct CborOptions {
  /// Nesting of lists and maps.
  std::size_t max_depth = 128;
  /// Floats (64 bits) are legal DAG-CBOR, but not in atproto: allowed only to keep a record that
  /// has them.
  bool allow_floats = false;
  /// False: map keys may come in any order, integers and lengths in more bytes than they need, and
  /// floats of 16 and 32 bits where floats are allowed. `Document::is_canonical` tells whether the
  /// value has DAG-CBOR's one form.
  bool canonical = true;
};

/// For bytes whose form proves nothing: the maps of an event stream's frame, the header of a CAR,
/// and records, which their CID identifies in whatever form they were written.
inline constexpr CborOptions kAnyForm{.allow_floats = true, .canonical = false};

/// Reads one DAG-CBOR value that fills `in` (ipld.io/specs/codecs/dag-cbor,
/// atproto.com/specs/data-model): definite lengths, shortest integers, keys that are UTF-8 strings
/// in order and unique, tag 42 only, UTF-8 text. `out` is cleared first; its text and bytes point
/// into `in`, nothing is copied.
Result<void> read_dag_cbor(ByteView in, atproto::Document& out, const CborOptions& options = {});

/// Reads one value from the front of `in` and returns how many bytes it took. An event stream's
/// frame is two such values.
Result<std::size_t> read_dag_cbor_prefix(ByteView in, atproto::Document& out,
                                         const CborOptions& options = {});

}  // namespace skua::repo
