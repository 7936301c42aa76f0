#include "pipeline/future_gate.hpp"

#include <utility>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "verify/commit_verifier.hpp"
#include "writer/router.hpp"

namespace skua::pipeline {
namespace {

constexpr std::chrono::minutes kTellHeldAgain{1};

}  // namespace

MessageDates dates_of(const event::FramePeek& frame) {
  if (frame.rev.empty()) return {};
  const auto rev = atproto::Tid::parse(frame.rev);
  if (!rev) return {};
  const auto time = parse_datetime(frame.time);
  return {*rev, time ? time->instant : Timestamp{}};
}

FutureGate::~FutureGate() {
  intake_.frames_held -= held_.size();
}

bool FutureGate::is_ahead(const MessageDates& dates) const {
  if (!dates.rev || !verify::is_of_the_future(*dates.rev, dates.time, clock_.now())) return false;
  // A message whose revision is also far ahead of the message's own time proves nothing about the
  // local clock.
  return dates.time == Timestamp{} || dates.rev->time() <= dates.time + verify::kFuture;
}

bool FutureGate::pass(AdmittedMessage& message, const MessageDates& dates, SteadyTime now) {
  const bool ahead = is_ahead(dates);
  if (held_.empty()) {
    if (!ahead) return true;
    began_ = now;
  }
  if (dates.rev) (ahead ? ahead_ : present_).insert(writer::path_hash(message.did));
  held_.push_back({std::move(message), dates});
  intake_.frames_held += 1;
  return false;
}

std::vector<AdmittedMessage> FutureGate::release(SteadyTime now) {
  std::vector<AdmittedMessage> out;
  if (held_.empty()) return out;
  while (!held_.empty() && !is_ahead(held_.front().dates)) take_first(out);
  const bool is_several = ahead_.size() >= kSeveral;
  if (present_.size() >= ahead_.size() || (!is_several && now - began_ >= kHoldTime)) {
    while (!held_.empty()) take_first(out);
  }
  if (!held_.empty()) {
    if (is_several) tell(now);
    return out;
  }
  ahead_.clear();
  present_.clear();
  if (std::exchange(told_at_, std::nullopt)) {
    logger("clock")->info("revisions are no longer in the future: intake continues");
  }
  return out;
}

void FutureGate::take_first(std::vector<AdmittedMessage>& out) {
  out.push_back(std::move(held_.front().message));
  held_.pop_front();
  intake_.frames_held -= 1;
}

void FutureGate::tell(SteadyTime now) {
  if (told_at_ && now - *told_at_ < kTellHeldAgain) return;
  told_at_ = now;
  const auto& dates = held_.front().dates;
  const auto by = std::chrono::round<std::chrono::seconds>(dates.rev->time() - clock_.now());
  logger("clock")->warn(
      "revisions of {} accounts are ahead of this machine's clock, by {}: the clock seems to be "
      "wrong. {}",
      ahead_.size(), duration_text(by),
      with_code("Intake waits until it is correct", problem("clock-wrong")));
}

}  // namespace skua::pipeline
