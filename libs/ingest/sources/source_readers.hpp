#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "filter/filter_watch.hpp"
#include "pipeline/cursor_saver.hpp"
#include "pipeline/pipeline.hpp"
#include "sources/source.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

/// Reads the sources of a SourceRun, which send the same events. One source at a time has a client,
/// at the beginning the first source. One thread calls `switch_to` and `close`. Any thread may call
/// the const functions.
class SourceReaders {
 public:
  struct Options {
    std::vector<SourceStart> sources;
    std::string ca_file;
    std::chrono::milliseconds read_timeout{60'000};
    filter::CurrentFilter* filter = nullptr;
  };

  /// `clock` outlives the readers.
  SourceReaders(Options options, const Clock& clock)
      : options_(std::move(options)), clock_(clock) {}
  ~SourceReaders();
  SourceReaders(const SourceReaders&) = delete;
  SourceReaders& operator=(const SourceReaders&) = delete;

  /// Makes the intakes, which continue at the cursors of `cursor_saver`. Call it before `start`.
  /// Both arguments are used until `stop`.
  void connect_to(pipeline::Pipeline& pipeline, pipeline::CursorSaver& cursor_saver);
  void start();
  /// Takes no more messages. Messages that were taken are still acknowledged.
  void close();
  /// Ends the client.
  void stop();

  /// Ends the client, and starts a client for another source. `position` is called between the two.
  /// It returns the position in the other source, or nothing for live.
  void switch_to(std::size_t source, const std::function<std::optional<std::int64_t>()>& position);

  /// Tells the intakes that these messages are durable. An intake ignores the messages of other
  /// sources. Any thread may call it.
  void on_finished(std::span<const pipeline::Pipeline::Ticket> tickets);

  std::size_t size() const { return readers_.size(); }
  std::size_t active() const;
  const Source& source(std::size_t i) const { return *options_.sources[i].source; }
  const CursorChoice& cursor(std::size_t i) const { return options_.sources[i].cursor; }
  const Intake& intake(std::size_t i) const { return *readers_[i].intake; }
  const std::string& name(std::size_t i) const { return readers_[i].name; }
  /// Returns the number of connections that were made to a source.
  std::uint64_t connections(std::size_t i) const;

  /// Returns the sources for a run that continues this run (see `resumed`). Call it after `close`.
  std::vector<SourceStart> resumed_sources() const;

 private:
  struct Reader {
    std::string name;
    std::unique_ptr<Intake> intake;
    /// The saved cursor at the beginning of this run.
    std::optional<std::int64_t> saved_cursor;
    /// The number of connections of clients that have ended.
    std::uint64_t earlier_connections = 0;
  };

  std::unique_ptr<transport::StreamClient> make_client(std::size_t source);

  const Options options_;
  const Clock& clock_;
  std::vector<Reader> readers_;
  // `switch_to` changes these members under the lock.
  mutable std::mutex mutex_;
  std::size_t active_ = 0;
  std::unique_ptr<transport::StreamClient> client_;
};

}  // namespace skua::sources
