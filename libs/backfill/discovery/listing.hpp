#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "backfill/discovery/discovery.hpp"
#include "backfill/repository/repo_answer.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// A list that a server sends page by page.
///
/// It blocks; any thread except the HTTP client's, one at a time. The client and the clock must
/// outlive it. The caller stores the cursor of each page together with the results of the page, and
/// may continue from there with another object. It does not retry.
template <class Page>
class Listing {
 public:
  using UrlOf = std::function<std::string(std::string_view cursor)>;
  using Read = std::function<Result<Page>(std::string_view json)>;

  struct Source {
    UrlOf url_of;
    Read read;
    transport::HostOrigin origin = transport::HostOrigin::network;
  };

  /// Starts after `cursor`; empty: at the beginning.
  Listing(transport::HttpClient& http, const Clock& clock, Source source, std::string cursor);

  /// The next page. After a failure it requests the same page again. A page without a cursor is the
  /// last one. A cursor that repeats an earlier one is removed: nothing new would follow.
  std::variant<Page, HostLimited, RequestFailed> next();

 private:
  ErrorCode advance(const Page& page);

  transport::HttpClient& http_;
  const Clock& clock_;
  const Source source_;
  std::string cursor_;
  /// An earlier cursor, replaced after twice as many pages each time: a list that repeats in a
  /// cycle of any length eventually reaches it again.
  std::string landmark_;
  std::size_t pages_since_landmark_ = 0;
  std::size_t next_landmark_after_ = 1;
  std::size_t empty_pages_ = 0;
};

/// `origin`: a PDS or a relay, such as https://pds.example; `named_by`: the origin of this name.
Listing<RepoPage>::Source repos_of(std::string origin, transport::HostOrigin named_by);
Listing<RepoPage>::Source repos_with_collection(std::string relay, std::string collection,
                                                transport::HostOrigin named_by);
Listing<HostPage>::Source hosts_of(std::string relay, transport::HostOrigin named_by,
                                   bool allow_private_hosts);

}  // namespace skua::backfill
