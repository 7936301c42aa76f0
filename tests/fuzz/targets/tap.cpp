#include "event/tap_message.hpp"
#include "fuzz/target.hpp"

namespace skua::fuzz {

void run_tap(ByteView input) {
  const auto peek = event::peek_tap(as_text(input));
  event::TapDecoder decoder;
  event::TapMessage message;
  if (!decoder.decode(as_text(input), Timestamp{}, message)) return;
  require(peek.has_value(), "what can be decoded can be acknowledged");
  require(peek->id == message.id && peek->type == message.type, "both read the same message");
  require(peek->did.empty() || peek->did == message.did, "both read the same account");
}

}  // namespace skua::fuzz
