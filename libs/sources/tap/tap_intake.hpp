#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "ingest/pipeline.hpp"
#include "sources/connection_log.hpp"
#include "sources/intake.hpp"
#include "sources/source.hpp"
#include "sources/tap/ack_ledger.hpp"

namespace skua::sources {

/// Takes a Tap's messages into the pipeline and acknowledges each when its rows are durable. Tap
/// sends again what was not acknowledged, so that nothing is asked for; what is known of an order
/// is when a message came, and that takes the place of a cursor: its saved value says what
/// tombstones are still needed.
class TapIntake final : public Intake {
 public:
  TapIntake(ingest::Pipeline& pipeline, TapSource source);

  /// To be told what the pipeline has finished. Any thread.
  void on_finished(std::span<const ingest::Pipeline::Ticket> tickets) { ledger_.finished(tickets); }
  /// Takes nothing more, while what was taken is still acknowledged. Any thread.
  void close() { closed_ = true; }

  transport::StreamClientOptions stream() override;
  void attach(transport::StreamClient& client) override { client_ = &client; }
  bool connected() const override { return words_.connected(); }
  AckLedger::Figures acks() const { return ledger_.figures(); }

  bool try_accept(transport::RawFrame& frame) override;
  void when_room(std::function<void()> wake) override {
    if (!closed_) pipeline_.when_room(std::move(wake));
  }
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

 private:
  std::size_t send(std::span<const std::int64_t> ids);

  ingest::Pipeline& pipeline_;
  const TapSource source_;
  ConnectionLog words_;
  transport::StreamClient* client_ = nullptr;
  AckLedger ledger_;
  /// The number of the connection whose ids are in the ledger.
  std::atomic<std::uint64_t> connection_{0};
  /// When the last message came, in microseconds; always more than the one before.
  std::int64_t arrival_ = 0;
  std::atomic<bool> closed_{false};
};

}  // namespace skua::sources
