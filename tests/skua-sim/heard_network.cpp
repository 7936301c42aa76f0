#include "skua-sim/heard_network.hpp"

#include <chrono>
#include <stdexcept>

#include "repo/dag_cbor.hpp"

namespace skua::sim::test_cases {
namespace {

constexpr Timestamp kStart{std::chrono::seconds(1'780'000'000)};

}  // namespace

OpenFrame::OpenFrame(Bytes frame) : frame_(std::move(frame)) {
  const auto header = repo::read_dag_cbor_prefix(frame_, header_);
  if (!header) throw std::runtime_error("header: " + header.error().message());
  const auto body = repo::read_dag_cbor(ByteView(frame_).subspan(*header), body_);
  if (!body) throw std::runtime_error("body: " + body.error().message());
}

std::string OpenFrame::type() const {
  return std::string(header_.root().find("t").value().string());
}

HeardNetwork::HeardNetwork(const NetworkSettings& settings,
                           std::function<void(const Heard&)> listen)
    : listen_(std::move(listen)),
      now_(kStart),
      network_(settings, {"https://one.test", "https://two.test", "https://three.test"}, kStart,
               [this](std::size_t host, std::shared_ptr<const Message> message) {
                 heard_.push_back({host, std::move(message)});
                 if (listen_) listen_(heard_.back());
               }) {}

std::size_t HeardNetwork::steps(std::size_t count) {
  std::size_t events = 0;
  for (; count > 0; --count) {
    now_ += std::chrono::milliseconds(1);
    events += network_.step(now_);
  }
  return events;
}

NetworkSettings small_settings(std::uint64_t seed) {
  NetworkSettings settings;
  settings.seed = seed;
  settings.accounts = 12;
  settings.outsiders = 50;
  settings.oddities = 4;
  return settings;
}

}  // namespace skua::sim::test_cases
