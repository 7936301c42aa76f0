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
  /// The largest nesting of lists and maps.
  std::size_t max_depth = 128;
  /// Whether floats (64 bits) are allowed. They are legal in DAG-CBOR and illegal in atproto, so
  /// they are allowed only to keep a record that has floats.
  bool allow_floats = false;
  /// Whether the value must be in DAG-CBOR's canonical form. Otherwise map keys may have any order,
  /// integers and lengths may have more bytes than they need, and floats of 16 and 32 bits are
  /// allowed if floats are. `Document::is_canonical` tells whether the value was in canonical form.
  bool canonical = true;
};

/// For bytes whose form proves nothing: the maps of an event stream's frame, the header of a CAR,
/// and records, which their CID identifies in any form.
inline constexpr CborOptions kAnyForm{.allow_floats = true, .canonical = false};

/// Reads one DAG-CBOR value that fills `in` (ipld.io/specs/codecs/dag-cbor,
/// atproto.com/specs/data-model). The value must have definite lengths, shortest integers, unique
/// keys that are UTF-8 strings in order, no tag but 42, and UTF-8 text. `out` is cleared first. Its
/// text and bytes point into `in`, so nothing is copied.
Result<void> read_dag_cbor(ByteView in, atproto::Document& out, const CborOptions& options = {});

/// Reads one value from the front of `in` and returns the number of its bytes. An event stream's
/// frame is two such values.
Result<std::size_t> read_dag_cbor_prefix(ByteView in, atproto::Document& out,
                                         const CborOptions& options = {});

/// Appends DAG-CBOR to a buffer. The caller gives sizes before contents, and gives map keys in
/// DAG-CBOR order (by length, then by bytes). The writer checks nothing; `read_dag_cbor` does.
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
  /// Appends a whole value. The order of keys in its document does not matter.
  void value(const atproto::Value& value);

 private:
  void head(CborMajor major, std::uint64_t argument);
  Bytes& out_;
};

/// Whether `a` stands before `b` as a DAG-CBOR map key.
bool cbor_key_less(std::string_view a, std::string_view b);

}  // namespace skua::repo
