#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/cbor_item.hpp"

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

/// Appends DAG-CBOR to a buffer. The caller says sizes before contents and gives map keys in
/// DAG-CBOR order (by length, then by bytes); nothing is checked here, `read_dag_cbor` is the
/// check.
class CborWriter {
 public:
  explicit CborWriter(Bytes& out) : out_(out) {}

  void null();
  void boolean(bool value);
  void integer(std::int64_t value);
  void floating(double value);
  void string(std::string_view text);
  void bytes(ByteView data);
  void link(const atproto::Cid& cid);
  void list(std::size_t items);
  void map(std::size_t entries);
  /// A whole value. The order of keys in its document does not matter.
  void value(const atproto::Value& value);

 private:
  void head(CborMajor major, std::uint64_t argument);
  Bytes& out_;
};

/// True when `a` stands before `b` as a DAG-CBOR map key.
bool cbor_key_less(std::string_view a, std::string_view b);

}  // namespace skua::repo
