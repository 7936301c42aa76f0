#include "sources/relay/relay_source.hpp"

#include <utility>

#include "pipeline/decoder.hpp"
#include "sources/intake.hpp"

namespace skua::sources {

std::unique_ptr<Intake> RelaySource::make_intake(IntakeServices services) const {
  return std::make_unique<FrameIntake>(std::move(services), endpoint(), FrameIntake::Sender::Relay);
}

std::unique_ptr<pipeline::AnyDecoder> RelaySource::make_decoder(
    pipeline::DecoderServices services) const {
  return std::make_unique<pipeline::Decoder>(std::move(services));
}

}  // namespace skua::sources
