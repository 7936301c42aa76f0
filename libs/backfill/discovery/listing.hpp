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

/// A list as it is served, page by page.
///
/// It blocks; any thread but the HTTP client's, one at a time. The client and the clock must
/// outlive it. The caller keeps the cursor of each page together with what it makes of the page,
/// and may go on from there with another object. Nothing is tried again here.
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

  /// Begins behind `cursor`; empty: at the beginning.
  Listing(transport::HttpClient& http, const Clock& clock, Source source, std::string cursor);

  /// The page behind the last one. After a failure the same page is asked for again; a page without
  /// a cursor was the last.
  std::variant<Page, HostLimited, RequestFailed> next();

 private:
  ErrorCode advance(const Page& page);

  transport::HttpClient& http_;
  const Clock& clock_;
  const Source source_;
  std::string cursor_;
  /// A cursor that came up before, kept while twice as many pages pass each time: however long the
  /// circle is in which a list turns, some time it is met again.
  std::string landmark_;
  std::size_t pages_since_landmark_ = 0;
  std::size_t next_landmark_after_ = 1;
  std::size_t empty_pages_ = 0;
};

/// `origin`: a PDS or a relay, such as https://pds.example; `named_by`: who named it.
Listing<RepoPage>::Source repos_of(std::string origin, transport::HostOrigin named_by);
Listing<RepoPage>::Source repos_with_collection(std::string relay, std::string collection,
                                                transport::HostOrigin named_by);
Listing<HostPage>::Source hosts_of(std::string relay, transport::HostOrigin named_by,
                                   bool allow_private_hosts);

}  // namespace skua::backfill
