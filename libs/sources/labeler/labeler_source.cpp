#include "sources/labeler/labeler_source.hpp"

#include <utility>

#include "sources/frame_intake.hpp"
#include "sources/labeler/label_decoder.hpp"

namespace skua::sources {

std::unique_ptr<Intake> LabelerSource::make_intake(IntakeServices services) const {
  return std::make_unique<FrameIntake>(std::move(services), endpoint(),
                                       FrameIntake::Sender::Labeler);
}

std::unique_ptr<ingest::DecodeThread> LabelerSource::make_decoder(
    ingest::DecoderServices services) const {
  const ingest::Verification* verification = services.verification;
  return std::make_unique<LabelDecoder>(
      std::move(services.out), verification != nullptr ? &verification->accounts : nullptr);
}

}  // namespace skua::sources
