#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "atproto/account_group.hpp"
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
  /// One source, or several sources that stand by for the first (docs/adr/0003), in the order of
  /// preference.
  std::vector<SourceStart> sources;
  FailOver::Options fail_over;
  /// The margin of StandbyPositions.
  std::chrono::milliseconds margin = std::chrono::minutes(2);
  /// The source of the keys that verify commits or labels. If it is null, they are not verified.
  accounts::AccountSource* accounts = nullptr;
  verify::Level level = verify::Level::Full;
  tables::Resync resync = tables::Resync::Complete;
  /// Whether repositories with missing records are downloaded again, including repositories that
  /// cannot be verified.
  bool repairs = false;
  std::string ca_file;
  std::size_t decode_threads = 2;
  pipeline::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// The groups of accounts that the database owns.
  atproto::GroupSet groups = {};
  /// The filter, which outlives the run. If it is null, everything is stored.
  filter::CurrentFilter* filter = nullptr;
  /// The part that notices the accounts of signal collections. It outlives the run. If it is null,
  /// there are no signal collections.
  pipeline::SignalAccounts* signals = nullptr;
  /// Adds metrics that other parts of the process count. Any thread may call it.
  std::function<void(pipeline::Metrics&)> complete = {};
};

/// One source of a process with its own parts: the readers, the decoders with their verification,
/// the in-flight list, the cursor. It can also be several sources that stand by for each other.
/// They share everything but the cursor, so that the known state of repositories does not depend on
/// the source. One thread owns and calls the run. Any thread may call its const functions.
class SourceRun {
 public:
  /// Takes the source locks, and adds the sources to `pool`, which outlives the run and is not
  /// started yet. Throws the exceptions of the constructor of CursorSaver.
  SourceRun(postgres::Runtime& runtime, SourceRunOptions options, writer::WorkerPool& pool);
  ~SourceRun();
  SourceRun(const SourceRun&) = delete;
  SourceRun& operator=(const SourceRun&) = delete;

  /// Starts to read. Call it after the start of `pool`.
  void start();

  // The steps of a stop, in this order. `close` takes no more messages. `drain` waits until all
  // taken messages are durable. `end` ends the client of the source. `save` saves the cursor.
  void close();
  /// Returns false if messages are unfinished.
  bool drain(std::chrono::steady_clock::time_point deadline);
  void end();
  bool save();
  /// Ends the saver without saving. Call it instead of `save` if the database was replaced by
  /// another one, in which this run has saved nothing.
  void drop();

  /// Returns the sources for a run that continues this run (see `resumed`). Call it after `close`.
  std::vector<SourceStart> resumed_sources() const { return readers_.resumed_sources(); }

  /// Returns the metrics of each source, in the order of the sources.
  std::vector<pipeline::Metrics> metrics() const;
  std::vector<pipeline::SourceState> states() const;
  const pipeline::IntakeCounters& intake() const { return pipeline_.intake(); }

 private:
  const Source& front() const { return *options_.sources.front().source; }
  /// Whether the messages are commits, and are verified.
  bool verifies_commits() const;
  /// Whether the gaps of repositories are stored.
  bool notes_gaps() const;
  /// Returns null if messages are not verified.
  std::unique_ptr<pipeline::CommitVerification> make_verification();
  std::vector<std::string> names() const;
  pipeline::CursorSaver::Options saver_options();
  /// Returns the cursors of groups of the sources that continue at their saved cursor. A source
  /// that begins elsewhere reads everything from there.
  std::vector<std::optional<tables::GroupCursors>> group_cursors() const;
  pipeline::PipelineOptions pipeline_options();
  pipeline::Metrics metrics_of(std::size_t source) const;

  postgres::Runtime& runtime_;
  const SourceRunOptions options_;
  const Clock& clock_;
  const Timestamp started_at_;
  pipeline::PendingHeads heads_;
  pipeline::CursorSaver cursor_saver_;
  /// It is null if messages are not verified.
  std::unique_ptr<pipeline::CommitVerification> verification_;
  // The readers outlive the pipeline, which reports durable messages to them.
  SourceReaders readers_;
  pipeline::Pipeline pipeline_;
  /// It is null if there is one source.
  std::unique_ptr<RelayGroup> group_;
};

}  // namespace skua::sources
