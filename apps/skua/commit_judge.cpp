#include "commit_judge.hpp"

#include <variant>

#include "verify/errc.hpp"

namespace skua::cli {
namespace {

/// All errors of the verifier are its own.
CommitJudge::Judgement judgement_of(const boost::system::error_code& error) {
  const auto reason = static_cast<verify::errc>(error.value());
  return {verify::name_of(reason), verify::is_refusal(reason)};
}

}  // namespace

CommitJudge::Judgement CommitJudge::judge(const event::FrameDecoder& decoder,
                                          const event::DecodedFrame& frame) {
  if (frame.type == event::MessageType::Account) {
    for (const event::UnresolvedEvent& event : frame.events) {
      if (const auto* change = std::get_if<event::AccountChange>(&event.body)) {
        repositories_[frame.did].active = change->active;
      }
    }
    return {};
  }
  const Judgement judgement = check(decoder, frame);
  ++totals_[judgement.reason];
  return judgement;
}

CommitJudge::Judgement CommitJudge::check(const event::FrameDecoder& decoder,
                                          const event::DecodedFrame& frame) {
  verify::RepositoryState& state = repositories_[frame.did];
  const auto commit = verify::CommitVerifier::admit(frame, decoder.car(), state, frame.time);
  if (!commit) return judgement_of(commit.error());
  const identity::DidDocument* document = documents_.find(frame.did);
  if (document == nullptr) return judgement_of(make_error_code(verify::errc::no_did_document));
  const auto accepted = verifier_.verify(frame, decoder.car(), *commit, document->key, state);
  if (!accepted) return judgement_of(accepted.error());
  if (accepted->continuity == verify::Continuity::Broken) ++broken_;
  state.last = accepted->link;
  return {};
}

}  // namespace skua::cli
