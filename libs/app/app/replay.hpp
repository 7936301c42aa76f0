#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  /// The capture of a relay or of a labeler, as its first frame shows. A pipe is taken for the
  /// capture of a relay.
  std::filesystem::path file;
  /// The source of keys. If it is null, nothing is verified. A capture is verified against itself:
  /// the stored heads are neither used nor changed.
  std::unique_ptr<accounts::AccountSource> accounts;
  verify::Level level = verify::Level::Full;
  /// The DNS server for looking up handles. If it is nothing, the most recent claim of a handle
  /// counts without verification.
  std::optional<documents::DnsServer> check_handles;
  /// A file of certificates for the hosts of handles.
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t decode_threads = 2;
  pipeline::InFlightList::Limits in_flight;
  /// `stop` waits at most this long for the events in flight to become durable.
  std::chrono::milliseconds drain_timeout{15'000};
};

/// `skua replay`: indexes a capture from its first frame. Saves no cursor. Reads the capture on its
/// own thread. One thread owns the replay and calls its functions.
class Replay {
 public:
  /// Throws std::runtime_error with a message for the user if the file or the database cannot be
  /// used.
  Replay(ReplayOptions options, const Clock& clock);
  ~Replay();

  void start();
  /// Waits at most `time` for the end. Returns true if all frames were read, all events are
  /// durable, no handle is due for a look-up, and the references to accounts of other nodes were
  /// sent to the nodes that can be reached.
  bool wait_for(std::chrono::milliseconds time);
  /// Ends the reading and drains. Returns false if some events are not durable.
  bool stop();

  pipeline::Metrics metrics() const;
  /// Returns a text for the user for each node that did not get references. Known at the end.
  std::vector<std::string> unsent_references() const;
  /// Returns a problem of the file (an incomplete last frame, garbage) as a text for the user;
  /// empty if there is none. The problem is known at the end of the reading.
  std::string file_problem() const;
  /// Returns true if garbage ended the reading before the end of the file.
  bool file_is_broken() const;
  /// Returns why the process must stop; nothing if it can continue.
  std::optional<std::string> reason_to_stop() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
