#include "top/model.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "top/json_fields.hpp"

namespace skua::top {
namespace {

using nlohmann::json;

constexpr unsigned kOk = 200;
constexpr unsigned kUnavailable = 503;

double seconds_since(Model::TimePoint then, Model::TimePoint now) {
  return std::max(std::chrono::duration<double>(now - then).count(), 0.0);
}

/// What an error says of itself: `database-down: ...`.
std::string refusal_text(const Answer& answer, const json& body) {
  const std::string code = text_field(body, "error");
  const std::string message = text_field(body, "message");
  if (code.empty()) return fmt::format("HTTP status {}", answer.status);
  return message.empty() ? code : code + ": " + message;
}

}  // namespace

const char* path_of(Page page) {
  switch (page) {
    case Page::Health:
      return "/health/ready";
    case Page::Metrics:
      return "/metrics";
    case Page::Status:
      return "/status";
    case Page::Latest:
      break;
  }
  return "/latest";
}

void Model::add(const Answer& answer) {
  PageState& page = pages_[static_cast<std::size_t>(answer.page)];
  std::string failure = answer.failure;
  if (answer.status != 0) {
    failure = use(answer);
    if (!failure.empty()) failure = fmt::format("{}: {}", path_of(answer.page), failure);
  }
  if (failure.empty()) {
    page = {answer.at, std::nullopt, {}};
    return;
  }
  if (!page.failing_since) page.failing_since = answer.at;
  page.failure = std::move(failure);
}

std::string Model::use(const Answer& answer) {
  return answer.page == Page::Metrics ? use_metrics(answer) : use_json(answer);
}

std::string Model::use_metrics(const Answer& answer) {
  if (answer.status != kOk) return fmt::format("HTTP status {}", answer.status);
  Samples samples = Samples::parse(answer.body);
  if (samples.size() == 0) return "the answer has no metrics";
  history_.add({answer.at, std::move(samples)});
  return {};
}

std::string Model::use_json(const Answer& answer) {
  json body = json::parse(answer.body, nullptr, false);
  const bool is_health = answer.page == Page::Health;
  // 503 is an answer: the process is not ready.
  const bool is_state = is_health && answer.status == kUnavailable;
  if (answer.status != kOk && !is_state) return refusal_text(answer, body);
  if (!body.is_object() || (is_health && text_field(body, "status").empty())) {
    return "the answer is not that of a Skua process";
  }
  if (answer.page == Page::Status && !first_size_) first_size_ = first_size(body, answer.at);
  bodies_[static_cast<std::size_t>(answer.page)] = std::move(body);
  return {};
}

Snapshot::Contact Model::contact(Page first, Page second, TimePoint now) const {
  Snapshot::Contact contact;
  for (const Page page : {first, second}) {
    const PageState& state = state_of(page);
    if (state.answered_at) {
      contact.age = std::max(contact.age.value_or(0), seconds_since(*state.answered_at, now));
    }
    if (!state.failing_since) continue;
    const double lasts = seconds_since(*state.failing_since, now);
    if (contact.failing_for.value_or(-1) >= lasts) continue;
    contact.failing_for = lasts;
    contact.failure = state.failure;
  }
  return contact;
}

Snapshot Model::snapshot(TimePoint now) const {
  Snapshot snapshot;
  snapshot.process = contact(Page::Health, Page::Metrics, now);
  snapshot.database_pages = contact(Page::Status, Page::Latest, now);
  const auto body = [&](Page page) -> const json& {
    return bodies_[static_cast<std::size_t>(page)];
  };
  read_health(body(Page::Health), snapshot);
  read_metrics(history_, snapshot);
  if (const auto& answered_at = state_of(Page::Status).answered_at) {
    read_status(body(Page::Status), first_size_, *answered_at, snapshot);
  }
  read_latest(body(Page::Latest), snapshot);
  return snapshot;
}

}  // namespace skua::top
