#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "base/time.hpp"
#include "filter/filter_watch.hpp"
#include "pipeline/cursor_saver.hpp"
#include "pipeline/decoder.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/metrics.hpp"
#include "pipeline/pending_heads.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/source_state.hpp"
#include "sources/relay/relay_group.hpp"
#include "sources/source_readers.hpp"
#include "tables/repository_table.hpp"
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
  tables::Resync resync = tables::Resync::Complete;
  /// Repositories of which something is missing are downloaded again, also those that cannot be
  /// verified.
  bool repairs = false;
  std::string ca_file;
  std::size_t decode_threads = 2;
  pipeline::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// The filter; null: everything is stored. Outlives the run.
  filter::CurrentFilter* filter = nullptr;
  /// Notices the accounts of signal collections; null: there are none. Outlives the run.
  pipeline::SignalAccounts* signals = nullptr;
  /// Adds metrics that are counted elsewhere in the process; called on any thread.
  std::function<void(pipeline::Metrics&)> complete = {};
};

/// One source of a process with the parts that are its own: the readers, the decoders with their
/// verification, the in-flight list, the cursor. Or several sources that stand by for each other:
/// they share everything but the cursor, so that the known state of repositories does not depend on
/// the source. Owned and called by one thread; the const functions by any.
class SourceRun {
 public:
  /// Takes the source locks, and adds the sources to `pool`, which outlives it and is not
  /// started yet. Throws as CursorSaver does.
  SourceRun(postgres::Runtime& runtime, SourceRunOptions options, writer::WorkerPool& pool);
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
  std::vector<pipeline::Metrics> metrics() const;
  std::vector<pipeline::SourceState> states() const;
  const pipeline::IntakeCounters& intake() const { return pipeline_.intake(); }

 private:
  const Source& front() const { return *options_.sources.front().source; }
  /// Whether the messages are commits, and are verified.
  bool verifies_commits() const;
  /// Whether the gaps of repositories are stored.
  bool notes_gaps() const;
  /// Null: messages are not verified.
  std::unique_ptr<pipeline::CommitVerification> make_verification();
  std::vector<std::string> names() const;
  pipeline::CursorSaver::Options saver_options();
  pipeline::PipelineOptions pipeline_options();
  pipeline::Metrics metrics_of(std::size_t source) const;

  postgres::Runtime& runtime_;
  const SourceRunOptions options_;
  const Clock& clock_;
  const Timestamp started_at_;
  pipeline::PendingHeads heads_;
  pipeline::CursorSaver cursor_saver_;
  /// Null: messages are not verified.
  std::unique_ptr<pipeline::CommitVerification> verification_;
  // Outlives the pipeline, which reports durable messages to it.
  SourceReaders readers_;
  pipeline::Pipeline pipeline_;
  /// Null: there is one source.
  std::unique_ptr<RelayGroup> group_;
};

}  // namespace skua::sources
