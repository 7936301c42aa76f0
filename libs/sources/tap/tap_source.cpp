#include "sources/tap/tap_source.hpp"

#include "ingest/message_decoder.hpp"
#include "sources/tap/tap_intake.hpp"
#include "sources/tap/tap_reader.hpp"

namespace skua::sources {

std::unique_ptr<Intake> TapSource::make_intake(IntakeServices services) const {
  return std::make_unique<TapIntake>(std::move(services), endpoint(), password_);
}

std::unique_ptr<ingest::AnyDecoder> TapSource::make_decoder(
    ingest::DecoderServices services) const {
  return std::make_unique<ingest::MessageDecoder>(std::make_unique<TapReader>(),
                                                  std::move(services.out));
}

}  // namespace skua::sources
