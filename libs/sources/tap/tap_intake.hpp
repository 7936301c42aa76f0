#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "sources/intake.hpp"
#include "sources/tap/ack_ledger.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

/// Takes the messages of a Tap into the pipeline and acknowledges each when its rows are durable.
/// Tap repeats messages that were not acknowledged, so no cursor is sent to it. The sequence number
/// of a message is its arrival time: the saved cursor shows which tombstones are still needed. See
/// Intake for the threads.
class TapIntake final : public Intake {
 public:
  /// `password` is that of the user `admin`; empty: Tap needs none.
  TapIntake(IntakeServices services, transport::Endpoint endpoint, std::string password);

  /// The connection stays open, because messages that were taken are still acknowledged.
  bool close() override {
    closed_ = true;
    return true;
  }
  void on_finished(std::span<const ingest::Pipeline::Ticket> tickets) override {
    ledger_.finished(tickets);
  }

  transport::StreamClientOptions stream() override;
  void attach(transport::StreamClient& client) override { client_ = &client; }
  bool try_accept(transport::RawFrame& frame) override;
  void when_room(std::function<void()> wake) override {
    if (!closed_) Intake::when_room(std::move(wake));
  }
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

 protected:
  bool may_be_silent() const override { return true; }

 private:
  std::size_t send(std::span<const std::int64_t> ids);

  const transport::Endpoint endpoint_;
  const std::string password_;
  transport::StreamClient* client_ = nullptr;
  AckLedger ledger_;
  /// The number of the connection whose ids are in the ledger.
  std::atomic<std::uint64_t> connection_{0};
  /// When the last message came, in microseconds; always more than the one before.
  std::int64_t arrival_ = 0;
  std::atomic<bool> closed_{false};
};

}  // namespace skua::sources
