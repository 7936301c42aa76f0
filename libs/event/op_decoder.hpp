#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "event/unresolved_event.hpp"
#include "repo/car_reader.hpp"

namespace skua::event {

/// The operation that an op's `action` names; nothing for an unknown action.
std::optional<Operation> operation_of(std::string_view action);

/// Decodes the ops of one commit. Lives on the stack while one frame is decoded. `blocks` are the
/// commit's blocks with verified hashes; `scratch` is memory that is reused.
class OpDecoder {
 public:
  OpDecoder(std::string_view did, std::int64_t seq, atproto::Tid rev, const repo::BlockMap& blocks,
            atproto::Document& scratch)
      : did_(did), seq_(seq), rev_(rev), blocks_(blocks), scratch_(scratch) {}

  /// Fills `out`, which is new, with a RecordChange. If the op cannot be used, `out` becomes a
  /// Rejection; its payload is the record's block if there is one, otherwise the op's own DAG-CBOR.
  void decode(const atproto::Value& op, UnresolvedEvent& out);

 private:
  /// The error message; empty on success.
  std::string read(const atproto::Value& op, UnresolvedEvent& out);
  std::string read_block(const atproto::Value& op, RecordChange& change);

  std::string_view did_;
  std::int64_t seq_;
  atproto::Tid rev_;
  const repo::BlockMap& blocks_;
  atproto::Document& scratch_;
};

}  // namespace skua::event
