#include "sources/relay/relay_probe.hpp"

#include <utility>

#include "event/frame_decoder.hpp"
#include "transport/relay_stream.hpp"

namespace skua::sources {
namespace {

transport::StreamClientOptions options_of(transport::Endpoint relay, const std::string& ca_file,
                                          std::chrono::milliseconds patience) {
  auto options = transport::relay_stream(std::move(relay), [] { return std::nullopt; });
  options.ca_file = ca_file;
  options.connect_timeout = patience;
  options.close_timeout = std::chrono::milliseconds(500);
  // A probe makes one attempt. The next attempt is another probe.
  options.reconnect.first = options.reconnect.longest = std::chrono::hours(1);
  options.random = [] { return 0.9; };
  return options;
}

}  // namespace

RelayProbe::RelayProbe(transport::Endpoint relay, const std::string& ca_file,
                       std::chrono::milliseconds patience)
    : begun_at_(std::chrono::steady_clock::now()),
      patience_(patience),
      client_(options_of(std::move(relay), ca_file, patience), *this) {
  client_.start();
}

std::optional<RelayProbe::Answer> RelayProbe::answer() const {
  const std::scoped_lock lock(mutex_);
  if (!answer_ && std::chrono::steady_clock::now() - begun_at_ >= patience_) return Answer{};
  return answer_;
}

bool RelayProbe::try_accept(transport::RawFrame& frame) {
  const auto peek = event::peek_frame(frame.bytes);
  if (peek.has_error() || peek->seq == 0) return true;
  const std::scoped_lock lock(mutex_);
  if (!answer_) answer_ = Answer{peek->seq};
  return true;
}

std::optional<std::string> RelayProbe::wants_end() {
  const std::scoped_lock lock(mutex_);
  return answer_ ? std::optional<std::string>("the probe is over") : std::nullopt;
}

void RelayProbe::on_disconnected(const transport::Disconnection& /*end*/) {
  const std::scoped_lock lock(mutex_);
  if (!answer_) answer_ = Answer{};
}

}  // namespace skua::sources
