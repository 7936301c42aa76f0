#include <chrono>

#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "fuzz/target.hpp"
#include "repo/dag_cbor.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::fuzz {
namespace {

/// 2026-07-04, when the messages of the corpus were made.
constexpr Timestamp kNow{std::chrono::seconds{1'783'175'888}};

void decode(ByteView frame) {
  const auto peek = event::peek_frame(frame);
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  if (!decoder.decode(frame, decoded)) return;
  require(peek.has_value(), "what can be decoded can be routed");
  require(peek->type == decoded.type && peek->seq == decoded.seq, "both read the same message");
  require(peek->did.empty() || peek->did == decoded.did, "both read the same account");
  if (decoded.type != event::MessageType::Commit && decoded.type != event::MessageType::Sync)
    return;
  require(decoded.rev.has_value(), "a commit has a revision");
  const auto commit = verify::CommitVerifier::admit(decoded, {}, kNow);
  if (!commit || decoded.type != event::MessageType::Commit) return;
  verify::CommitVerifier verifier(verify::Level::Full);
  (void)verifier.check_ops(decoded.claim, decoded.car, *commit);
}

}  // namespace

void run_frame(ByteView input) {
  decode(input);
  // Once more, with blocks that are what their CIDs say.
  atproto::Document header;
  const auto length = repo::read_dag_cbor_prefix(input, header, repo::kAnyForm);
  if (!length) return;
  Bytes rehashed(input.begin(), input.end());
  atproto::Document body;
  if (!repo::read_dag_cbor(ByteView(rehashed).subspan(*length), body, repo::kAnyForm)) return;
  const auto blocks = body.root().find("blocks");
  if (!blocks || !blocks->is_bytes()) return;
  const auto at = static_cast<std::size_t>(blocks->bytes().data() - rehashed.data());
  rehash_car(rehashed, std::span(rehashed).subspan(at, blocks->bytes().size()));
  decode(rehashed);
}

}  // namespace skua::fuzz
