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

/// What an intake is made from. All outlive it.
struct IntakeServices {
  pipeline::Pipeline& pipeline;
  /// The number of this source among those of the pipeline.
  std::size_t stream = 0;
  /// The position that the first connection asks for; nothing: live.
  std::optional<std::int64_t> start = std::nullopt;
  /// Null: everything is wanted.
  filter::CurrentFilter* filter = nullptr;
  /// Saves the cursor soon: the source has reset its sequence numbers.
  std::function<void()> save_cursor = nullptr;
  /// The source was discovered: its messages in the log are of level debug, because anybody can
  /// cause them.
  bool is_discovered = false;
};

/// Takes the messages of one source into the pipeline, and remembers where the next connection
/// continues. Called on its client's thread; the metrics by any thread.
class Intake : public transport::FrameSink {
 public:
  /// `log` is the name of the logger, `url` the source in messages, `advice` what a user can check
  /// when the source was never reached.
  Intake(IntakeServices services, std::string log, const std::string& url, std::string advice);

  /// The options of a client for this source.
  virtual transport::StreamClientOptions stream() = 0;
  /// Before the client starts.
  virtual void attach(transport::StreamClient& /*client*/) {}
  /// While there is no client: where the next one begins; nothing: live.
  void begin_at(std::optional<std::int64_t> position);
  /// The client was stopped.
  void ended() { connection_.ended(); }

  /// Takes no more messages. True: the client must stay until the pipeline is empty, because the
  /// source is told which messages are durable. Any thread.
  virtual bool close() { return false; }
  /// These messages are durable. Called for sources with `is_acknowledged`. Any thread.
  virtual void on_finished(std::span<const pipeline::Pipeline::Ticket> /*tickets*/) {}

  std::optional<std::string> wants_end() override { return std::exchange(end_, std::nullopt); }
  void on_ignored() override;
  void when_room(std::function<void()> wake) override;
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

  /// Where the next connection continues: after the last message that was taken. The client's
  /// thread, or while there is no client.
  std::optional<std::int64_t> position() const { return position_; }

  bool connected() const { return connection_.connected(); }
  /// The connection, without the name of the source, its role and its lag.
  pipeline::SourceState state() const;
  /// Messages that arrived, also those for which the pipeline had no room.
  std::uint64_t heard() const { return heard_; }
  /// The pipeline has no room for the next message: the source is not silent.
  bool waits_for_room() const { return waits_for_room_; }
  /// How often the source has reset its sequence numbers.
  std::uint64_t restarts() const { return restarts_; }
  /// Sequence numbers missing between the cursor and the first message of a connection.
  std::uint64_t skipped() const { return skipped_; }
  /// The position after which this run began to read; nothing: no message came, or the source has
  /// no positions.
  std::optional<std::int64_t> began_after() const;

 protected:
  using SteadyClock = std::chrono::steady_clock;

  /// The source may send nothing for hours.
  virtual bool may_be_silent() const { return false; }
  /// The source no longer keeps the events after the cursor.
  void cursor_outdated();

  /// Submits a message to the pipeline, as of this source. False: there is no room.
  bool submit(transport::RawFrame& message, const event::FramePeek& peek,
              const std::function<void(pipeline::Pipeline::Ticket)>& admitted = nullptr);
  /// The first call counts.
  void begins_after(std::int64_t position);
  /// The sequence numbers of the source were reset: the next connection reads all that it keeps.
  void restart();

  /// Logs a warning; of level debug for a discovered source.
  void warn(const std::string& message) const;

  IntakeServices services_;
  std::optional<std::int64_t> position_;
  /// Why this connection is to end.
  std::optional<std::string> end_;
  std::atomic<std::uint64_t> skipped_{0};

 private:
  const std::string log_;
  const std::string source_url_;
  ConnectionLog connection_;
  std::atomic<std::uint64_t> heard_{0};
  std::atomic<SteadyClock::time_point> heard_at_{SteadyClock::now()};
  /// The epoch: never.
  std::atomic<SteadyClock::time_point> outdated_at_{SteadyClock::time_point()};
  std::atomic<bool> waits_for_room_{false};
  std::atomic<std::uint64_t> restarts_{0};
  std::atomic<std::int64_t> began_after_{-1};
};

/// Takes the CBOR frames of a relay or a labeler (atproto.com/specs/event-stream) and watches their
/// sequence numbers:
/// - A relay's first frame after the cursor has a larger number than expected: the relay no longer
///   keeps the frames between them. The gap is logged and counted. The numbers of a labeler have
///   gaps; a labeler sends the message OutdatedCursor instead.
/// - A number below the cursor: the sender was rebuilt and has reset its sequence numbers. Relays
/// do
///   not announce this; a PDS sends the error FutureCursor. Everything that the sender keeps is
///   read again.
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
  /// Compares the first numbered frame of a connection with the cursor that was asked for. False:
  /// the numbers were reset, and this connection ends.
  bool check_first(std::int64_t seq);
  void take_error(ByteView frame);
  void take_info(ByteView frame);

  const transport::Endpoint endpoint_;
  const Sender sender_;
  /// `relay` or `labeler`, in the log.
  const std::string kind_;
  const std::string url_;
  bool first_frame_ = true;
  /// The labeler no longer keeps all messages after the cursor.
  bool is_outdated_ = false;
};

}  // namespace skua::sources
