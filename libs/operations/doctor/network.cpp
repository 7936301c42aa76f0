#include "doctor/network.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "transport/errc.hpp"

namespace skua::doctor {

namespace {

constexpr std::chrono::milliseconds kCloseTimeout{500};

transport::StreamClientOptions one_attempt(transport::Endpoint source, const std::string& ca_file,
                                           std::chrono::milliseconds limit) {
  transport::StreamClientOptions options;
  options.endpoint = std::move(source);
  options.messages = transport::MessageKinds::Both;
  options.peer = "the source";
  options.ca_file = ca_file;
  options.connect_timeout = limit;
  options.close_timeout = kCloseTimeout;
  options.reconnect.first = options.reconnect.longest = std::chrono::hours(1);
  // A fixed number replaces the random jitter.
  options.random = [] { return 0.9; };
  return options;
}

using std::chrono::microseconds;
using SteadyClock = std::chrono::steady_clock;

/// A slower answer is not used to compare clocks, because the error of the comparison is half of
/// this time.
constexpr std::chrono::seconds kSlowForClocks{2};
constexpr std::size_t kLargestBody = 64 * 1024;

NetworkAnswer answer_of(const Result<transport::HttpAnswer>& result, const Clock& clock,
                        SteadyClock::time_point asked) {
  NetworkAnswer answer;
  const auto took = SteadyClock::now() - asked;
  answer.took = std::chrono::round<std::chrono::milliseconds>(took);
  if (result.has_error()) {
    answer.status = result.error();
    return answer;
  }
  answer.status = result->status;
  if (const auto date = transport::host_time(*result); date && took < kSlowForClocks) {
    // The Date header has no fraction of a second, so half a second is added as the mean fraction.
    constexpr std::chrono::milliseconds kHalfSecond{500};
    const auto sent = clock.now() - std::chrono::round<microseconds>(took / 2);
    answer.clock_ahead = *date + kHalfSecond - sent;
  }
  return answer;
}

bool works(const NetworkAnswer& answer) {
  if (answer.status.has_error()) return false;
  return answer.stream_failure ? answer.stream_failure->empty() : *answer.status < 500;
}

const Problem& problem_of_target(const NetworkTarget& target, const NetworkAnswer& answer) {
  using transport::errc;
  if (answer.status.has_error()) {
    const ErrorCode code = answer.status.error();
    if (code == errc::host_not_found || code == errc::host_lookup_failed) {
      return problem("dns-failed");
    }
    if (code == errc::tls_failed || code == errc::tls_untrusted) return problem("source-tls");
  }
  return target.kind == NetworkTarget::Kind::Plc ? problem("plc-down") : problem("source-down");
}

std::string failure_text(const NetworkTarget& target, const NetworkAnswer& answer) {
  if (answer.status.has_error()) {
    return fmt::format("{}: {}", target.url, answer.status.error().message());
  }
  if (!answer.stream_failure) {
    return fmt::format("{} answers with status {}", target.url, *answer.status);
  }
  return fmt::format("the host answers, but opens no websocket: {}", *answer.stream_failure);
}

}  // namespace

StreamProbe::StreamProbe(transport::Endpoint source, const std::string& ca_file,
                         std::chrono::milliseconds limit)
    // The client normally reports the end before this deadline.
    : deadline_(std::chrono::steady_clock::now() + 2 * limit),
      client_(one_attempt(std::move(source), ca_file, limit), *this) {
  client_.start();
}

std::string StreamProbe::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline_, [this] { return failure_.has_value(); });
  return failure_.value_or("no answer");
}

void StreamProbe::on_connected(std::uint64_t /*connection*/) {
  end("");
}

void StreamProbe::on_disconnected(const transport::Disconnection& end_of_it) {
  end(end_of_it.reason.empty() ? "the connection ended" : end_of_it.reason);
}

void StreamProbe::end(const std::string& failure) {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = failure;
  changed_.notify_all();
}

std::vector<NetworkAnswer> ask_network(const std::vector<NetworkTarget>& targets,
                                       const transport::HttpClientOptions& options,
                                       const Clock& clock) {
  std::vector<std::unique_ptr<StreamProbe>> probes(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i].stream) continue;
    probes[i] =
        std::make_unique<StreamProbe>(*targets[i].stream, options.ca_file, options.connect_timeout);
  }
  // The promises are declared before the client, because the destruction of the client ends all
  // requests and thereby uses the promises.
  std::vector<std::promise<NetworkAnswer>> promises(targets.size());
  transport::HttpClient client(options);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    transport::HttpRequest request;
    request.url = targets[i].url;
    request.origin = transport::HostOrigin::configured;
    request.max_body_bytes = kLargestBody;
    const auto asked = SteadyClock::now();
    client.send(std::move(request), [&promise = promises[i], &clock,
                                     asked](const Result<transport::HttpAnswer>& result) {
      promise.set_value(answer_of(result, clock, asked));
    });
  }
  std::vector<NetworkAnswer> answers;
  answers.reserve(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    NetworkAnswer& answer = answers.emplace_back(promises[i].get_future().get());
    if (probes[i]) answer.stream_failure = probes[i]->wait();
  }
  return answers;
}

Findings judge_network(const std::vector<NetworkTarget>& targets,
                       const std::vector<NetworkAnswer>& answers) {
  const auto is_replaced = [&](const NetworkTarget& target) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!target.group.empty() && targets[i].group == target.group && works(answers[i])) {
        return true;
      }
    }
    return false;
  };
  Findings findings;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const NetworkTarget& target = targets[i];
    const NetworkAnswer& answer = answers[i];
    if (works(answer)) {
      const bool lacks_stream = target.kind == NetworkTarget::Kind::Source && !target.stream;
      findings.push_back(
          ok(target.check,
             fmt::format("answers after {} ms{}", answer.took.count(),
                         lacks_stream ? "; its websocket was not tried: it has one client" : "")));
      continue;
    }
    const Problem& problem = problem_of_target(target, answer);
    const std::string text = failure_text(target, answer);
    findings.push_back(is_replaced(target) ? warning(target.check, problem, text)
                                           : error(target.check, problem, text));
  }
  return findings;
}

}  // namespace skua::doctor
