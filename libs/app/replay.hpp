#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "accounts/account_source.hpp"
#include "app/database.hpp"
#include "base/time.hpp"
#include "identity/txt_lookup.hpp"
#include "status/metrics.hpp"
#include "verify/commit_verifier.hpp"
#include "writer/in_flight.hpp"

namespace skua::app {

struct ReplayOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  std::filesystem::path file;
  /// Where keys come from; null: nothing is verified. A capture is verified against itself: what
  /// the database knows of repositories is neither used nor changed.
  std::unique_ptr<accounts::AccountSource> accounts;
  verify::Level level = verify::Level::Full;
  /// The DNS server that handles are looked up at; nothing: the most recent claim of a handle
  /// counts without verification.
  std::optional<identity::DnsServer> check_handles;
  /// For the hosts of handles.
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t decode_threads = 2;
  writer::InFlightList::Limits in_flight;
  /// How long a stop waits for the database to take what is in flight.
  std::chrono::milliseconds drain_timeout{15'000};
};

/// `skua replay`: a capture through the whole pipeline, from the first frame; no cursor is saved.
/// Reads on a thread of its own; owned and called by one thread.
class Replay {
 public:
  /// Throws std::runtime_error when file or database cannot be used, in words for the user.
  Replay(ReplayOptions options, const Clock& clock);
  ~Replay();

  void start();
  /// Waits for the end, at most so long. True: all was read and is durable, and no handle is due to
  /// be looked up.
  bool wait_for(std::chrono::milliseconds time);
  /// Ends reading and drains. False: not all that was read is durable.
  bool stop();

  status::Metrics metrics() const;
  /// What is wrong with the file itself (torn tail, garbage), for the user; empty when nothing is.
  /// Known at the end.
  std::string file_problem() const;
  /// True when reading had to end before the end of the file because of garbage.
  bool file_is_broken() const;
  std::optional<std::string> defect() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
