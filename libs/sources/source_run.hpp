#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "accounts/account_source.hpp"
#include "accounts/retrying_accounts.hpp"
#include "base/time.hpp"
#include "ingest/cursor_saver.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/pipeline.hpp"
#include "ingest/verifying.hpp"
#include "ingest/writing.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/relay/frame_intake.hpp"
#include "sources/relay/relay_probe.hpp"
#include "sources/relay/standby_positions.hpp"
#include "sources/source.hpp"
#include "sources/tap/tap_intake.hpp"
#include "status/metrics.hpp"
#include "store/repository_table.hpp"
#include "transport/stream_client.hpp"
#include "verify/commit_verifier.hpp"
#include "writer/in_flight.hpp"

namespace skua::sources {

struct SourceRunOptions {
  std::string database_url;
  /// One, or relays that stand by for the first, in the order of preference: docs/adr/0003.
  std::vector<Source> sources;
  FailOver::Options fail_over;
  /// See StandbyPositions.
  std::chrono::milliseconds margin = std::chrono::minutes(2);
  /// How commits and labels are verified, by the accounts' keys; null: they are not.
  accounts::AccountSource* accounts = nullptr;
  verify::Level level = verify::Level::Full;
  store::Resync resync = store::Resync::Complete;
  std::string ca_file;
  std::size_t decode_threads = 2;
  writer::InFlightList::Limits in_flight;
  std::chrono::milliseconds cursor_interval{10'000};
  std::chrono::milliseconds read_timeout{60'000};
  /// What is stored; null: everything. Outlives the run.
  filter::CurrentFilter* filter = nullptr;
  /// Adds to the metrics what is counted elsewhere in the process; called on any thread.
  std::function<void(status::Metrics&)> complete;
};

/// One source of a process, with all that is its own: the client, the intake, the decoders with
/// their verification, the in-flight list, the cursor. Or several relays that stand by for each
/// other: one of them is read at a time, and they have one in-flight list and one chain, so that
/// what is known of repositories is true whoever told it; each has a cursor of its own. Owned and
/// called by one thread; the const functions by any.
class SourceRun {
 public:
  /// Takes the sources, and adds them to `writing`, which outlives it and is not started yet.
  /// Throws as CursorSaver does.
  SourceRun(SourceRunOptions options, ingest::Writing& writing, const Clock& clock,
            std::function<void(const std::string&)> on_defect);
  ~SourceRun();
  SourceRun(const SourceRun&) = delete;
  SourceRun& operator=(const SourceRun&) = delete;

  /// After `writing` was started.
  void start();

  // A stop, in this order: nothing new is taken; what was taken becomes durable; nothing is said to
  // the source any more; the cursor is saved.
  void close();
  /// False: something was left unfinished.
  bool drain(std::chrono::steady_clock::time_point deadline);
  void end();
  bool save();
  /// Instead of `save`: the database is another one, in which this run has saved nothing.
  void drop();

  /// The sources for a run in this one's place, see `resumed`. After `close`.
  std::vector<Source> resumed_sources() const;

  /// One of each source, in their order.
  std::vector<status::Metrics> metrics() const;

 private:
  struct Member {
    std::string name;
    /// The cursor that was stored when this began.
    std::optional<std::int64_t> found_cursor;
    std::unique_ptr<Intake> intake;
    /// The same, of a relay.
    FrameIntake* frames = nullptr;
    std::uint64_t earlier_connections = 0;
    // Of relays that stand by: the watching thread's.
    std::unique_ptr<RelayProbe> probe;
    /// Where the watermark stood when the probe began.
    std::int64_t watermark_then = 0;
    int lower_numbers = 0;
    /// When it was seen first.
    std::optional<Timestamp> first_seen;
    bool was_read = false;
    bool counts_anew = false;
  };

  std::unique_ptr<Intake> make_intake(const RelaySource& source, std::size_t member);
  std::unique_ptr<Intake> make_intake(const TapSource& source, std::size_t member);
  std::unique_ptr<Intake> make_intake(const JetstreamSource& source, std::size_t member);
  std::unique_ptr<Intake> make_intake(const LabelerSource& source, std::size_t member);
  std::unique_ptr<transport::StreamClient> make_client(std::size_t member);
  bool verifies_commits() const;
  ingest::CursorSaver::Options saver_options();
  ingest::PipelineOptions pipeline_options();
  status::Metrics metrics_of(std::size_t member) const;

  // Of several relays; all but the last on a thread of their own.
  void watch(const std::stop_token& stop);
  void turn(std::chrono::steady_clock::time_point now);
  void listen(std::chrono::steady_clock::time_point now);
  void confirm_positions();
  void probe(std::chrono::steady_clock::time_point now);
  void take_answer(std::size_t member, std::optional<std::int64_t> seq,
                   std::chrono::steady_clock::time_point now);
  /// Compares where a relay stands with what is known of it. False: of no use.
  bool check_numbers(std::size_t member, std::int64_t seq);
  void switch_to(std::size_t member);
  /// Where a relay that was not read is known to have been read to; nothing: it is not.
  std::optional<std::int64_t> known_position(std::size_t member) const;
  std::optional<std::int64_t> position_to_read_from(std::size_t member) const;
  bool is_promised() const;

  const SourceRunOptions options_;
  const Clock& clock_;
  const std::function<void(const std::string&)> on_defect_;
  const Timestamp started_at_;
  ingest::PendingHeads chain_;
  ingest::CursorSaver cursor_saver_;
  /// A relay's.
  std::unique_ptr<ingest::Verifying> verifying_;
  /// Of a labeler: who waits for its key.
  std::unique_ptr<accounts::RetryingAccounts> labelers_;
  // Outlive the pipeline, which tells them what has finished.
  std::vector<Member> members_;
  TapIntake* tap_ = nullptr;
  ingest::Pipeline pipeline_;
  // Swapped when another relay takes over.
  mutable std::mutex switch_mutex_;
  std::size_t active_ = 0;
  std::unique_ptr<transport::StreamClient> client_;

  FailOver fail_over_;
  StandbyPositions positions_;
  std::uint64_t heard_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t restarts_ = 0;
  std::chrono::steady_clock::time_point asked_head_at_;
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
  std::jthread watcher_;
};

}  // namespace skua::sources
