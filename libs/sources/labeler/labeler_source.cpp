#include "sources/labeler/labeler_source.hpp"

#include <utility>

#include "event/label_frame.hpp"
#include "sources/frame_intake.hpp"
#include "sources/labeler/label_decoder.hpp"

namespace skua::sources {

bool is_labels_message(ByteView message) {
  event::LabelFrameDecoder decoder;
  event::DecodedLabelFrame frame;
  return decoder.decode(message, frame) && frame.type == event::DecodedLabelFrame::Type::Labels;
}

std::unique_ptr<ingest::AnyDecoder> make_label_decoder(ingest::DecoderServices services) {
  const ingest::Verification* verification = services.verification;
  return std::make_unique<LabelDecoder>(
      std::move(services.out), verification != nullptr ? &verification->accounts : nullptr);
}

std::unique_ptr<Intake> LabelerSource::make_intake(IntakeServices services) const {
  return std::make_unique<FrameIntake>(std::move(services), endpoint(),
                                       FrameIntake::Sender::Labeler);
}

std::unique_ptr<ingest::AnyDecoder> LabelerSource::make_decoder(
    ingest::DecoderServices services) const {
  return make_label_decoder(std::move(services));
}

}  // namespace skua::sources
