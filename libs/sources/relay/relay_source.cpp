#include "sources/relay/relay_source.hpp"

#include <utility>

#include "ingest/decoder.hpp"
#include "sources/frame_intake.hpp"

namespace skua::sources {

std::unique_ptr<Intake> RelaySource::make_intake(IntakeServices services) const {
  return std::make_unique<FrameIntake>(std::move(services), endpoint(), FrameIntake::Sender::Relay);
}

std::unique_ptr<ingest::AnyDecoder> RelaySource::make_decoder(
    ingest::DecoderServices services) const {
  return std::make_unique<ingest::Decoder>(std::move(services));
}

}  // namespace skua::sources
