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
#include "documents/handle_check.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/metrics.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::app {

struct ReplayOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  /// Of a relay or of a labeler, which the first frame shows; a pipe: of a relay.
  std::filesystem::path file;
  /// Gives keys; null: nothing is verified. A capture is verified against itself: the stored heads
  /// are neither used nor changed.
  std::unique_ptr<accounts::AccountSource> accounts;
  verify::Level level = verify::Level::Full;
  /// The DNS server that handles are looked up at; nothing: the most recent claim of a handle
  /// counts without verification.
  std::optional<documents::DnsServer> check_handles;
  /// For the hosts of handles.
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t decode_threads = 2;
  pipeline::InFlightList::Limits in_flight;
  /// How long `stop` waits until the events in flight are durable.
  std::chrono::milliseconds drain_timeout{15'000};
};

/// `skua replay`: indexes a capture from its first frame. Saves no cursor. Reads on a thread of its
/// own; owned and called by one thread.
class Replay {
 public:
  /// Throws std::runtime_error, with a message for the user, when the file or the database cannot
  /// be used.
  Replay(ReplayOptions options, const Clock& clock);
  ~Replay();

  void start();
  /// Waits for the end, at most so long. True: all frames were read, all events are durable, and no
  /// handle is due for a look-up.
  bool wait_for(std::chrono::milliseconds time);
  /// Ends the reading and drains. False: some events are not durable.
  bool stop();

  pipeline::Metrics metrics() const;
  /// A problem of the file (an incomplete last frame, garbage), for the user; empty: none. Known at
  /// the end.
  std::string file_problem() const;
  /// True: garbage ended the reading before the end of the file.
  bool file_is_broken() const;
  /// Why the process must stop; nothing: it need not.
  std::optional<std::string> reason_to_stop() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
