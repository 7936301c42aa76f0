#pragma once

#include <cstdint>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "repo/cbor_major.hpp"

namespace skua::repo {

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
