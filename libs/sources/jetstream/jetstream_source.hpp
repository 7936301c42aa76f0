#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sources/source.hpp"
#include "transport/zstd_messages.hpp"

namespace skua::sources {

/// A Jetstream (github.com/bluesky-social/jetstream).
class JetstreamSource final : public Source {
 public:
  enum class Version : std::uint8_t { V1, V2 };

  /// `dictionary`: null: messages come without compression.
  JetstreamSource(transport::Endpoint endpoint,
                  std::shared_ptr<const transport::ZstdDictionary> dictionary)
      : Source(std::move(endpoint)), dictionary_(std::move(dictionary)) {}

  std::string_view kind() const override { return "jetstream"; }
  Proof proof() const override { return Proof::None; }
  std::unique_ptr<Intake> make_intake(IntakeServices services) const override;
  std::unique_ptr<ingest::AnyDecoder> make_decoder(ingest::DecoderServices services) const override;

  /// As its path says.
  Version version() const;
  const std::shared_ptr<const transport::ZstdDictionary>& dictionary() const { return dictionary_; }

 private:
  const std::shared_ptr<const transport::ZstdDictionary> dictionary_;
};

}  // namespace skua::sources
