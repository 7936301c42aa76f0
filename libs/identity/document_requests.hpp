#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "identity/adaptive_rate.hpp"
#include "identity/did_resolver.hpp"
#include "identity/request_budget.hpp"
#include "identity/site_queue.hpp"

namespace skua::identity {

struct DocumentRequestsOptions {
  /// Requests to the PLC directory.
  AdaptiveRateOptions directory = {};
  /// Requests to hosts of did:web: active in all, and to the hosts of one site (SiteQueue).
  std::size_t web_at_once = 32;
  std::size_t web_at_once_of_one_site = 4;
  double web_per_second = 50;
};

/// The DIDs whose documents are to be requested, and when: the PLC directory is asked at an
/// adaptive rate, the hosts of did:web in turns of their sites. The two do not wait for each other,
/// and neither do two sites: anybody can make Skua ask any number of slow hosts. Knows how many
/// requests are active. No I/O; one thread.
class DocumentRequests {
 public:
  explicit DocumentRequests(const DocumentRequestsOptions& options);

  void push(std::string did);
  /// Before all others of did:plc: the directory asked to repeat the request later.
  void repeat(std::string plc_did);

  /// The next DID whose document may be requested now; its request counts as active. Nothing: none.
  std::optional<std::string> next(Timestamp now);
  /// Once for each request. `started_at`: when `next` gave the DID.
  void finished(const std::string& did, const DidAnswer& answer, Timestamp started_at,
                std::chrono::microseconds duration, Timestamp now);

  /// How many requests to the PLC directory failed since its last answer.
  std::uint64_t directory_failures() const { return directory_failures_; }

  /// Whether `next` gives a DID when time passes, without the end of a request.
  bool waits_for_time() const;

 private:
  std::deque<std::string> plc_;
  AdaptiveRate directory_;
  SiteQueue web_;
  RequestBudget web_budget_;
  std::uint64_t directory_failures_ = 0;
};

}  // namespace skua::identity
