#pragma once

#include "sources/source.hpp"

namespace skua::sources {

/// A relay or PDS, which is read by com.atproto.sync.subscribeRepos.
class RelaySource final : public Source {
 public:
  using Source::Source;

  std::string_view kind() const override { return "relay"; }
  Proof proof() const override { return Proof::Commits; }
  bool has_standbys() const override { return true; }
  std::unique_ptr<Intake> make_intake(IntakeServices services) const override;
  std::unique_ptr<pipeline::AnyDecoder> make_decoder(
      pipeline::DecoderServices services) const override;
};

}  // namespace skua::sources
