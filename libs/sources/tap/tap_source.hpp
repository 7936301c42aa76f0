#pragma once

#include <string>
#include <utility>

#include "sources/source.hpp"

namespace skua::sources {

/// The `/channel` of a Tap (github.com/bluesky-social/indigo, cmd/tap). It has no cursor: it sends
/// again what was not acknowledged.
class TapSource final : public Source {
 public:
  /// `password`: of its user `admin`; empty: it needs none.
  TapSource(transport::Endpoint endpoint, std::string password)
      : Source(std::move(endpoint)), password_(std::move(password)) {}

  std::string_view kind() const override { return "tap"; }
  Proof proof() const override { return Proof::None; }
  bool has_cursor() const override { return false; }
  bool is_acknowledged() const override { return true; }
  std::unique_ptr<Intake> make_intake(IntakeServices services) const override;
  std::unique_ptr<ingest::AnyDecoder> make_decoder(ingest::DecoderServices services) const override;

 private:
  const std::string password_;
};

}  // namespace skua::sources
