#include "doctor/stream_probe.hpp"

#include <utility>

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
  // No jitter.
  options.random = [] { return 0.9; };
  return options;
}

}  // namespace

StreamProbe::StreamProbe(transport::Endpoint source, const std::string& ca_file,
                         std::chrono::milliseconds limit)
    // Normally the client states the end earlier.
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

}  // namespace skua::doctor
