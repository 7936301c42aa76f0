#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "base/time.hpp"
#include "filter/current_filter.hpp"
#include "ingest/cursor_saver.hpp"
#include "ingest/in_flight.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/pipeline.hpp"
#include "ingest/verifying.hpp"
#include "sources/relay/relay_group.hpp"
#include "sources/source_readers.hpp"
#include "status/metrics.hpp"
#include "status/source_state.hpp"
#include "store/repository_table.hpp"
#include "verify/commit_verifier.hpp"
#include "writer/worker_pool.hpp"

namespace skua::sources {

struct SourceRunOptions {
  /// One, or several that stand by for the first, in the order of preference: docs/adr/0003.
  std::vector<SourceStart> sources;
  FailOver::Options fail_over;
  /// See StandbyPositions.
  std::chrono::milliseconds margin = std::chrono::minutes(2);
  /// Gives the keys that verify commits or labels; null: they are not verified.
  accounts::AccountSource* accounts = nullptr;
  verify::Level level = verify::Level::Full;
  store::Resync resync = store::Resync::Complete;
  /// Repositories of which something is missing are downloaded again, also those that cannot be
  /// verified.
  bool repairs = false;
  std::string ca_file;
  std::size_t decode_threads = 2;
  ingest::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// The filter; null: everything is stored. Outlives the run.
  filter::CurrentFilter* filter = nullptr;
  /// Notices the accounts of signal collections; null: there are none. Outlives the run.
  ingest::SignalAccounts* signals = nullptr;
  /// Adds metrics that are counted elsewhere in the process; called on any thread.
  std::function<void(status::Metrics&)> complete = {};
};

/// One source of a process with the parts that are its own: the readers, the decoders with their
/// verification, the in-flight list, the cursor. Or several sources that stand by for each other:
/// they share everything but the cursor, so that the known state of repositories does not depend on
/// the source. Owned and called by one thread; the const functions by any.
class SourceRun {
 public:
  /// Takes the source locks, and adds the sources to `pool`, which outlives it and is not
  /// started yet. Throws as CursorSaver does.
  SourceRun(store::Runtime& runtime, SourceRunOptions options, writer::WorkerPool& pool);
  ~SourceRun();
  SourceRun(const SourceRun&) = delete;
  SourceRun& operator=(const SourceRun&) = delete;

  /// After `pool` was started.
  void start();

  // The steps of a stop, in this order. `close` takes no more messages. `drain` waits until all
  // taken messages are durable. `end` ends the client of the source. `save` saves the cursor.
  void close();
  /// False: messages are unfinished.
  bool drain(std::chrono::steady_clock::time_point deadline);
  void end();
  bool save();
  /// Instead of `save`: the database is another one, in which this run has saved nothing.
  void drop();

  /// The sources for a run that continues this one, see `resumed`. After `close`.
  std::vector<SourceStart> resumed_sources() const { return readers_.resumed_sources(); }

  /// One of each source, in their order.
  std::vector<status::Metrics> metrics() const;
  std::vector<status::SourceState> states() const;
  const ingest::IntakeCounters& intake() const { return pipeline_.intake(); }

 private:
  const Source& front() const { return *options_.sources.front().source; }
  /// Whether the messages are commits, and are verified.
  bool verifies_commits() const;
  /// Whether the gaps of repositories are stored.
  bool notes_gaps() const;
  /// Null: messages are not verified.
  std::unique_ptr<ingest::Verifying> make_verifying();
  std::vector<std::string> names() const;
  ingest::CursorSaver::Options saver_options();
  ingest::PipelineOptions pipeline_options();
  status::Metrics metrics_of(std::size_t source) const;

  store::Runtime& runtime_;
  const SourceRunOptions options_;
  const Clock& clock_;
  const Timestamp started_at_;
  ingest::PendingHeads heads_;
  ingest::CursorSaver cursor_saver_;
  /// Null: messages are not verified.
  std::unique_ptr<ingest::Verifying> verifying_;
  // Outlives the pipeline, which reports durable messages to it.
  SourceReaders readers_;
  ingest::Pipeline pipeline_;
  /// Null: there is one source.
  std::unique_ptr<RelayGroup> group_;
};

}  // namespace skua::sources
