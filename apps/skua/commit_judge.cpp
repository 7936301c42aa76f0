#include "commit_judge.hpp"

#include <string>
#include <utility>
#include <variant>

#include "verify/errc.hpp"

namespace skua::cli {

using ingest::CommitProcessor;

CommitJudge::Judgement CommitJudge::judge(event::DecodedFrame& message) {
  const CommitProcessor::Outcome outcome = process(message);
  if (message.type == event::MessageType::Account) return {};
  Judgement judgement;
  if (const auto* dropped = std::get_if<CommitProcessor::Drop>(&outcome)) {
    judgement = {verify::name_of(dropped->reason), verify::is_refusal(dropped->reason)};
  } else if (const auto* accepted = std::get_if<CommitProcessor::Accept>(&outcome)) {
    if (accepted->continuity == verify::Continuity::Broken) ++broken_;
  }
  ++totals_[judgement.reason];
  return judgement;
}

CommitProcessor::Outcome CommitJudge::process(event::DecodedFrame& message) {
  using What = CommitProcessor::Ask::What;
  const Timestamp now = message.time;
  ingest::Answers answers;
  while (true) {
    CommitProcessor::Outcome outcome = processor_.process(message, answers, false, now);
    const auto* question = std::get_if<CommitProcessor::Ask>(&outcome);
    if (question == nullptr) return outcome;
    if (question->what == What::Repository) {
      store::RepositoryRow unknown;
      unknown.did = message.did;
      processor_.set_repository(unknown);
    }
    // The other question is for the identity: without hosts the processor asks nothing else.
    accounts_.identity(message.did, question->freshness,
                       [&](const Result<identity::Account>& account) {
                         processor_.set_identity(message.did, account, question->freshness, now);
                         if (account) answers.document_handle = account->handle;
                       });
    answers.has_fresh_identity = question->what == What::Identity;
  }
}

}  // namespace skua::cli
