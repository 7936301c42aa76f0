#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "top/poller.hpp"

namespace skua::top {

/// What the pages of a process say at one time. Texts are those of the network. A number that is
/// not known is missing.
struct Snapshot {
  using Number = std::optional<double>;

  /// Of a group of pages that are read together.
  struct Contact {
    /// Seconds since the latest answer; nothing: there was none.
    Number age;
    /// Seconds since requests fail; nothing: they do not.
    Number failing_for;
    /// Why the last request failed.
    std::string failure;
  };

  struct ProblemState {
    std::string code;
    std::string title;
    std::string detail;
    std::string cure;
    /// Whether the process is not ready because of it; otherwise it is a warning.
    bool is_reason = false;
  };

  struct Source {
    std::string name;
    bool is_connected = false;
    /// `active` or `standby`; empty: the source is the only one of its kind.
    std::string role;
    Number cursor;
    Number lag;
    Number messages_per_second;
    Number verified_per_second;
    Number waiting_accounts;
    /// By reason, since the start of the process.
    std::vector<std::pair<std::string, double>> dropped;
  };

  struct Worker {
    std::string name;
    Number queued;
    Number events_per_second;
  };

  struct Collection {
    std::string name;
    Number per_second;
    double total = 0;
    bool is_quiet = false;
  };

  struct Consumer {
    std::string name;
    std::string kind;
    std::string state;
    Number lag;
    Number changes_behind;
    /// Why it does not work; empty: it does.
    std::string reason;
  };

  struct LetterReason {
    Number count;
    std::string error;
  };

  struct Letter {
    Number id;
    std::string at;
    std::string origin;
    std::string did;
    std::string status;
    std::string error;
  };

  struct Host {
    std::string name;
    Number queued;
    Number running;
    Number done;
    Number ended_otherwise;
  };

  struct Backfill {
    Number queued;
    Number running;
    Number done;
    Number failed;
    Number unavailable;
    /// Whether a process works on it.
    bool is_running = false;
    Number per_second;
    Number seconds_left;
    std::vector<Host> hosts;
  };

  struct TableSize {
    std::string name;
    Number rows;
    Number bytes;
    /// Since the first answer.
    Number growth;
  };

  struct Database {
    Number bytes;
    Number growth_per_hour;
    std::vector<TableSize> tables;
  };

  struct Post {
    std::string at;
    std::string name;
    std::string text;
  };

  /// The pages of the process: health and process status.
  Contact process;
  /// The pages of the database: status and latest rows.
  Contact database_pages;

  /// `ready`, `not-ready`, `starting` or `stopping`; empty: not known.
  std::string state;
  std::vector<ProblemState> problems;

  // Means over ten seconds, those of collections over a minute.
  Number events_per_second;
  Number rows_per_second;
  Number lag;
  Number commit_p50;
  Number commit_p99;
  Number in_flight;
  Number dead_letters;
  std::vector<Source> sources;
  std::vector<Worker> workers;
  /// Those with operations, the most frequent first.
  std::vector<Collection> collections;

  std::vector<Consumer> consumers;
  std::vector<LetterReason> letter_reasons;
  std::vector<Letter> letters;
  std::optional<Backfill> backfill;
  std::optional<Database> database;
  std::vector<Post> posts;

  /// The rows of a list of this struct.
  static constexpr std::size_t kMostRows = 500;

  bool is_ready() const { return state == "ready"; }
};

/// The sizes of a database at one time.
struct FirstSize {
  std::chrono::steady_clock::time_point at;
  double bytes = 0;
  std::map<std::string, double> tables;
};

/// What the answers of the pages say. An answer that cannot be used leaves the former one in place.
/// One thread.
class Model {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void add(const Answer& answer);

  Snapshot snapshot(TimePoint now) const;

 private:
  struct PageState {
    std::optional<TimePoint> answered_at;
    std::optional<TimePoint> failing_since;
    std::string failure;
  };

  /// The reason for which an answer cannot be used; empty: it was used.
  std::string use(const Answer& answer);
  Snapshot::Contact contact(Page first, Page second, TimePoint now) const;
  const PageState& state_of(Page page) const { return pages_[static_cast<std::size_t>(page)]; }

  std::array<PageState, kPages.size()> pages_;
  /// By page; null: there was no answer.
  std::array<nlohmann::json, kPages.size()> bodies_;
  std::optional<FirstSize> first_size_;
};

}  // namespace skua::top
