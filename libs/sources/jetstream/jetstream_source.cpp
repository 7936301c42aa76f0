#include "sources/jetstream/jetstream_source.hpp"

#include "ingest/message_decoder.hpp"
#include "sources/jetstream/jetstream_intake.hpp"
#include "sources/jetstream/jetstream_reader.hpp"

namespace skua::sources {

JetstreamSource::Version JetstreamSource::version() const {
  const bool is_v2 = endpoint().path.find("subscribeEvents") != std::string::npos;
  return is_v2 ? Version::V2 : Version::V1;
}

std::unique_ptr<Intake> JetstreamSource::make_intake(IntakeServices services) const {
  return std::make_unique<JetstreamIntake>(std::move(services), endpoint(), version(), dictionary_);
}

std::unique_ptr<ingest::AnyDecoder> JetstreamSource::make_decoder(
    ingest::DecoderServices services) const {
  return std::make_unique<ingest::MessageDecoder>(std::make_unique<JetstreamReader>(),
                                                  std::move(services.out));
}

}  // namespace skua::sources
