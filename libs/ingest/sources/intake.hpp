#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "filter/filter_watch.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/source_state.hpp"
#include "sources/connection_log.hpp"
#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

/// The parts that an intake uses. All parts outlive the intake.
struct IntakeServices {
  pipeline::Pipeline& pipeline;
  /// The index of this source among the sources of the pipeline.
  std::size_t stream = 0;
  /// The position at which the first connection begins. Nothing means live.
  std::optional<std::int64_t> start = std::nullopt;
  /// The filter. Null means that everything is stored.
  filter::CurrentFilter* filter = nullptr;
  /// Saves the cursor soon, because the source has reset its sequence numbers.
  std::function<void()> save_cursor = nullptr;
  /// Whether the source was discovered. Its messages in the log then have the level debug, because
  /// any account can cause them.
  bool is_discovered = false;
};

/// Takes the messages of one source into the pipeline, and remembers the position at which the next
/// connection continues. It is called on the client's thread. Any thread may read the metrics.
class Intake : public transport::FrameSink {
 public:
  /// `log` is the name of the logger, and `url` the name of the source in messages. `advice` tells
  /// a user what to check if the source was never reached.
  Intake(IntakeServices services, std::string log, const std::string& url, std::string advice);

  /// Returns the options of a client for this source.
  virtual transport::StreamClientOptions stream() = 0;
  /// Gives the intake its client, before the client starts.
  virtual void attach(transport::StreamClient& /*client*/) {}
  /// Sets the position at which the next client begins; nothing means live. Call it while there is
  /// no client.
  void begin_at(std::optional<std::int64_t> position);
  /// Reports that the client was stopped.
  void ended() { connection_.ended(); }

  /// Takes no more messages. Returns true if the client must stay until the pipeline is empty,
  /// because the source is told which messages are durable. Any thread may call it.
  virtual bool close() { return false; }
  /// Reports that these messages are durable. It is called for sources with `is_acknowledged`, on
  /// any thread.
  virtual void on_finished(std::span<const pipeline::Pipeline::Ticket> /*tickets*/) {}

  std::optional<std::string> wants_end() override { return std::exchange(end_, std::nullopt); }
  void on_ignored() override;
  void when_room(std::function<void()> wake) override;
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

  /// Returns the position at which the next connection continues: after the last message that was
  /// taken. Call it on the client's thread, or while there is no client.
  std::optional<std::int64_t> position() const { return position_; }

  bool connected() const { return connection_.connected(); }
  /// Returns the state of the connection, without the name of the source, its role and its lag.
  pipeline::SourceState state() const;
  /// Returns the number of messages that arrived, including messages for which the pipeline had no
  /// room.
  std::uint64_t heard() const { return heard_; }
  /// Whether the pipeline has no room for the next message. In that case the source is not silent.
  bool waits_for_room() const { return waits_for_room_; }
  /// Returns how often the source has reset its sequence numbers.
  std::uint64_t restarts() const { return restarts_; }
  /// Returns the number of sequence numbers that are missing between the cursor and the first
  /// message of a connection.
  std::uint64_t skipped() const { return skipped_; }
  /// Returns the position after which this run began to read. Returns nothing if no message came,
  /// or the source has no positions.
  std::optional<std::int64_t> began_after() const;

 protected:
  using SteadyClock = std::chrono::steady_clock;

  /// Whether it is normal that the source sends nothing for hours.
  virtual bool may_be_silent() const { return false; }
  /// Reports that the source no longer keeps the events after the cursor.
  void cursor_outdated();

  /// Submits a message of this source to the pipeline. Returns false if there is no room.
  bool submit(transport::RawFrame& message, const event::FramePeek& peek,
              const std::function<void(pipeline::Pipeline::Ticket)>& admitted = nullptr);
  /// Sets the position after which this run began to read. Only the first call has an effect.
  void begins_after(std::int64_t position);
  /// Starts again at the beginning, because the source has reset its sequence numbers: the next
  /// connection reads all messages that the source keeps.
  void restart();

  /// Logs a warning, or for a discovered source a message of level debug.
  void warn(const std::string& message) const;

  IntakeServices services_;
  std::optional<std::int64_t> position_;
  /// The reason why this connection must end.
  std::optional<std::string> end_;
  std::atomic<std::uint64_t> skipped_{0};

 private:
  const std::string log_;
  const std::string source_url_;
  ConnectionLog connection_;
  std::atomic<std::uint64_t> heard_{0};
  std::atomic<SteadyClock::time_point> heard_at_{SteadyClock::now()};
  /// The epoch means never.
  std::atomic<SteadyClock::time_point> outdated_at_{SteadyClock::time_point()};
  std::atomic<bool> waits_for_room_{false};
  std::atomic<std::uint64_t> restarts_{0};
  std::atomic<std::int64_t> began_after_{-1};
};

/// Takes the CBOR frames of a relay or a labeler (atproto.com/specs/event-stream) and checks their
/// sequence numbers.
///
/// If the first frame of a relay after the cursor has a larger number than expected, the relay no
/// longer keeps the frames between them. The gap is logged and counted. The numbers of a labeler
/// have gaps in any case, so a labeler sends the message OutdatedCursor instead.
///
/// If a number is below the cursor, the sender was rebuilt and has reset its sequence numbers.
/// Relays do not announce this, but a PDS sends the error FutureCursor. In this case the intake
/// reads all frames that the sender keeps again.
///
/// See Intake for the threads.
class FrameIntake final : public Intake {
 public:
  enum class Sender : std::uint8_t { Relay, Labeler };

  FrameIntake(IntakeServices services, transport::Endpoint endpoint, Sender sender);

  transport::StreamClientOptions stream() override;
  bool try_accept(transport::RawFrame& frame) override;
  void on_connected(std::uint64_t connection) override;

 protected:
  /// A labeler may publish nothing for hours.
  bool may_be_silent() const override { return sender_ == Sender::Labeler; }

 private:
  /// Compares the first numbered frame of a connection with the requested cursor. Returns false if
  /// the sequence numbers were reset, and ends this connection.
  bool check_first(std::int64_t seq);
  void take_error(ByteView frame);
  void take_info(ByteView frame);

  const transport::Endpoint endpoint_;
  const Sender sender_;
  /// The text `relay` or `labeler`, for the log.
  const std::string kind_;
  const std::string url_;
  bool first_frame_ = true;
  /// Whether the labeler no longer keeps all messages after the cursor.
  bool is_outdated_ = false;
};

}  // namespace skua::sources
