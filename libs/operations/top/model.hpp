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

/// The content of the pages of a process at one time. Texts come from the network unchanged. An
/// unknown number is missing.
struct Snapshot {
  using Number = std::optional<double>;

  /// The answers of a group of pages that are read together.
  struct Contact {
    /// Seconds since the latest answer; nothing if there was none.
    Number age;
    /// Seconds since requests began to fail; nothing if they do not fail.
    Number failing_for;
    /// Why the last request failed.
    std::string failure;
  };

  struct ProblemState {
    std::string code;
    std::string title;
    std::string detail;
    std::string cure;
    /// True if the problem is a reason why the process is not ready; otherwise it is a warning.
    bool is_reason = false;
  };

  struct Source {
    std::string name;
    bool is_connected = false;
    /// The role is `active` or `standby`; empty if the source is the only one of its kind.
    std::string role;
    Number cursor;
    Number lag;
    Number messages_per_second;
    Number verified_per_second;
    Number waiting_accounts;
    /// The numbers of drops by reason, since the start of the process.
    std::vector<std::pair<std::string, double>> dropped;
  };

  /// A node of a query database.
  struct Node {
    std::string name;
    std::string groups;
    std::string read_up_to;
    Number age;
    bool references_wait = false;
    /// Why the node cannot be read; empty if it can.
    std::string problem;
  };

  /// The nodes of a query database.
  struct Network {
    std::vector<Node> nodes;
    /// The groups that no node owns; empty if each has a node.
    std::string missing_groups;
    /// The move that is under way; empty if there is none.
    std::string move;
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
    /// The time until the next attempt after a failure.
    Number retry;
    Number dead_letters;
    /// Why the consumer does not work; empty if it works.
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
    /// True if a process works on the backfill.
    bool is_running = false;
    Number per_second;
    Number seconds_left;
    std::vector<Host> hosts;
  };

  struct TableSize {
    std::string name;
    Number rows;
    Number bytes;
    /// The growth since the first answer.
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

  /// The answers of the pages of the process: health and process status.
  Contact process;
  /// The answers of the pages of the database: status and latest rows.
  Contact database_pages;

  /// The state is `ready`, `not-ready`, `starting` or `stopping`; empty if it is unknown.
  std::string state;
  std::vector<ProblemState> problems;

  // The following rates are means over ten seconds, those of collections over a minute.
  Number events_per_second;
  Number rows_per_second;
  Number lag;
  Number commit_p50;
  Number commit_p99;
  Number in_flight;
  Number dead_letters;
  std::vector<Source> sources;
  /// Nothing: the process does not serve a query database.
  std::optional<Network> network;
  std::vector<Worker> workers;
  /// The collections with operations, the most frequent first.
  std::vector<Collection> collections;

  std::vector<Consumer> consumers;
  std::vector<LetterReason> letter_reasons;
  std::vector<Letter> letters;
  std::optional<Backfill> backfill;
  std::optional<Database> database;
  std::vector<Post> posts;

  /// The maximum number of rows of each list in this struct.
  static constexpr std::size_t kMostRows = 500;

  bool is_ready() const { return state == "ready"; }
};

/// The sizes of a database at one time.
struct FirstSize {
  std::chrono::steady_clock::time_point at;
  double bytes = 0;
  std::map<std::string, double> tables;
};

/// Keeps the answers of the pages. An unusable answer leaves the former answer unchanged. One
/// thread.
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

  /// Returns the reason why an answer cannot be used; empty if it was used.
  std::string use(const Answer& answer);
  Snapshot::Contact contact(Page first, Page second, TimePoint now) const;
  const PageState& state_of(Page page) const { return pages_[static_cast<std::size_t>(page)]; }

  std::array<PageState, kPages.size()> pages_;
  /// The bodies by page; null if there was no answer.
  std::array<nlohmann::json, kPages.size()> bodies_;
  std::optional<FirstSize> first_size_;
};

}  // namespace skua::top
