#include "sources/labeler/labeler_source.hpp"

#include <utility>

#include "event/label_frame.hpp"
#include "sources/intake.hpp"
#include "sources/labeler/label_decoder.hpp"

namespace skua::sources {

bool is_labels_message(ByteView message) {
  event::LabelFrameDecoder decoder;
  event::DecodedLabelFrame frame;
  return decoder.decode(message, frame) && frame.type == event::DecodedLabelFrame::Type::Labels;
}

std::unique_ptr<pipeline::AnyDecoder> make_label_decoder(pipeline::DecoderServices services) {
  const pipeline::VerificationServices* verification = services.verification;
  return std::make_unique<LabelDecoder>(
      std::move(services.out), verification != nullptr ? &verification->accounts : nullptr);
}

std::unique_ptr<Intake> LabelerSource::make_intake(IntakeServices services) const {
  return std::make_unique<FrameIntake>(std::move(services), endpoint(),
                                       FrameIntake::Sender::Labeler);
}

std::unique_ptr<pipeline::AnyDecoder> LabelerSource::make_decoder(
    pipeline::DecoderServices services) const {
  return make_label_decoder(std::move(services));
}

}  // namespace skua::sources
