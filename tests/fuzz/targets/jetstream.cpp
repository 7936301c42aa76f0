#include "event/jetstream_message.hpp"
#include "fuzz/target.hpp"

namespace skua::fuzz {

void run_jetstream(ByteView input) {
  const auto peek = event::peek_jetstream(as_text(input));
  event::JetstreamDecoder decoder;
  event::JetstreamMessage message;
  if (!decoder.decode(as_text(input), message)) return;
  require(peek.has_value(), "what can be decoded can be routed");
  require(peek->kind == message.kind && peek->cursor == message.cursor,
          "both read the same message");
  require(peek->did.empty() || peek->did == message.did, "both read the same account");
  require(message.events.size() <= 1, "an event is of one change");
}

}  // namespace skua::fuzz
