#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "identity/host_status.hpp"

namespace skua::identity {

/// How much may be asked for accounts' status. Further questions than `waiting` are refused, and a
/// question that has waited for `patience` is given up (errc::busy).
struct StatusLaneLimits {
  /// Documents of did:plc accounts, which the directory is asked for.
  std::size_t directory_at_once = 16;
  /// Hosts of did:web documents.
  std::size_t web_at_once = 64;
  /// Accounts' own hosts.
  std::size_t hosts_at_once = 128;
  /// Of the hosts of either kind, each.
  std::size_t of_one_host = 2;
  std::size_t waiting = 1'000;
  std::chrono::milliseconds patience{10'000};
};

/// Questions about the hosting status of accounts. The lane first finds the account's document and
/// then asks the host that it names. Attackers can cause questions to any number of silent hosts.
/// Therefore these questions have slots of their own and do not delay requests for keys. A question
/// waits for a slot twice, for the document and for the host.
///
/// It makes no requests itself. Any thread; its own thread ends questions that wait too long.
class StatusLane {
 public:
  using StatusDone = std::function<void(Result<HostStatus>)>;
  using PdsDone = std::function<void(Result<std::string>)>;

  /// How it asks. Each calls its `done` once, on any thread, also at once on the caller's.
  struct Requests {
    /// The origin of the account's PDS, as its document says now.
    std::function<void(const std::string& did, PdsDone done)> find_pds;
    std::function<void(const std::string& pds, const std::string& did, StatusDone done)> ask_pds;
  };

  explicit StatusLane(Requests requests, StatusLaneLimits limits = {});
  ~StatusLane();
  StatusLane(const StatusLane&) = delete;
  StatusLane& operator=(const StatusLane&) = delete;

  /// `done` is called once, on some thread, or at once on the caller's. Errors: those of the
  /// requests, busy, stopped.
  void ask(const std::string& did, StatusDone done);

  /// Ends waiting questions (errc::stopped) and joins the thread. The clients end active requests;
  /// their answers may arrive after the end of the lane. Idempotent.
  void stop();

  /// Questions that wait for a place.
  std::size_t waiting() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace skua::identity
