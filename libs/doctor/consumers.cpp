#include "doctor/consumers.hpp"

#include <string>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/size_text.hpp"
#include "feed/consumers/consumer_judgement.hpp"

namespace skua::doctor {
namespace {

constexpr double kNearLimit = 0.9;

Finding finding_of(const feed::Consumer& consumer) {
  using Level = feed::ConsumerJudgement::Level;
  const feed::ConsumerJudgement judgement = feed::judge_consumer(consumer);
  const std::string check = "consumer " + consumer.name;
  if (judgement.level == Level::Works) {
    std::string detail = fmt::format("{}, {} behind", judgement.state,
                                     counted(consumer.behind.value_or(0), "change"));
    if (!judgement.reason.empty()) detail += "; " + judgement.reason;
    return ok(check, detail);
  }
  return judgement.level == Level::Stopped
             ? error(check, *judgement.problem, judgement.reason, judgement.cure)
             : warning(check, *judgement.problem, judgement.reason, judgement.cure);
}

}  // namespace

Findings judge_consumers(const std::vector<feed::Consumer>& consumers) {
  if (consumers.empty()) return {ok("consumers", "there are none")};
  Findings findings;
  findings.reserve(consumers.size());
  for (const feed::Consumer& consumer : consumers) findings.push_back(finding_of(consumer));
  return findings;
}

Finding judge_change_log(const feed::LogSize& size) {
  const std::string detail = fmt::format("{} of {}", size_text(static_cast<double>(size.bytes)),
                                         size_text(static_cast<double>(size.max_bytes)));
  const bool is_near =
      static_cast<double>(size.bytes) >= kNearLimit * static_cast<double>(size.max_bytes);
  return is_near ? warning("change log", problem("change-log-large"), detail)
                 : ok("change log", detail);
}

}  // namespace skua::doctor
