#include "top/poller.hpp"

#include <cstddef>
#include <utility>

#include "transport/http_client.hpp"

namespace skua::top {
namespace {

/// The maximum size of a body, which is far more than any page has.
constexpr std::size_t kMostBytes = 4UL * 1024 * 1024;

transport::HttpClientOptions client_options(const Poller::Options& options) {
  transport::HttpClientOptions client;
  client.ca_file = options.ca_file;
  client.connect_timeout = options.timeout;
  client.total_timeout = options.timeout;
  client.max_redirects = 0;
  return client;
}

}  // namespace

const char* path_of(Page page) {
  switch (page) {
    case Page::Health:
      return "/health/ready";
    case Page::Process:
      return "/status/process";
    case Page::Status:
      return "/status";
    case Page::Latest:
      break;
  }
  return "/latest";
}

Poller::Poller(Options options)
    : options_(std::move(options)),
      client_(std::make_unique<transport::HttpClient>(client_options(options_))) {}

Poller::~Poller() {
  client_->stop();
}

void Poller::ask(Page page) {
  const bool is_asked = shared_.with([&](Shared& shared) {
    return std::exchange(shared.is_asked[static_cast<std::size_t>(page)], true);
  });
  if (is_asked) return;
  transport::HttpRequest request;
  request.url = options_.origin + path_of(page);
  request.origin = transport::HostOrigin::configured;
  request.max_body_bytes = kMostBytes;
  client_->send(std::move(request), [this, page](Result<transport::HttpAnswer> result) {
    Answer answer;
    answer.page = page;
    answer.at = std::chrono::steady_clock::now();
    if (result.has_error()) {
      answer.failure = result.error().message();
    } else {
      answer.status = result->status;
      answer.body = std::move(result->body);
    }
    finish(std::move(answer));
  });
}

std::vector<Answer> Poller::take() {
  return shared_.with([](Shared& shared) { return std::exchange(shared.answers, {}); });
}

void Poller::finish(Answer answer) {
  shared_.with([&](Shared& shared) {
    shared.is_asked[static_cast<std::size_t>(answer.page)] = false;
    shared.answers.push_back(std::move(answer));
  });
  if (options_.on_answer) options_.on_answer();
}

}  // namespace skua::top
