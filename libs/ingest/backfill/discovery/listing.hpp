#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "backfill/discovery/discovery.hpp"
#include "backfill/repository/download.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// A list that a server sends page by page.
///
/// It blocks. One thread at a time may use it, but not the HTTP client's. The client and the clock
/// must outlive it. The caller stores the cursor of each page together with the results of the
/// page, and may continue at the cursor with another object. The class does not retry.
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

  /// Starts after `cursor`, or at the beginning if `cursor` is empty.
  Listing(transport::HttpClient& http, const Clock& clock, Source source, std::string cursor);

  /// Returns the next page. After a failure it requests the same page again. A page without a
  /// cursor is the last one. A cursor that repeats an earlier cursor is removed, because nothing
  /// new would follow.
  std::variant<Page, HostLimited, RequestFailed> next();

 private:
  ErrorCode advance(const Page& page);

  transport::HttpClient& http_;
  const Clock& clock_;
  const Source source_;
  std::string cursor_;
  /// An earlier cursor. Another cursor replaces it after twice as many pages each time. Therefore a
  /// list that repeats in a cycle of any length eventually reaches this cursor again.
  std::string landmark_;
  std::size_t pages_since_landmark_ = 0;
  std::size_t next_landmark_after_ = 1;
  std::size_t empty_pages_ = 0;
};

/// `origin` is a PDS or a relay, such as https://pds.example. `named_by` is the origin of this
/// name.
Listing<RepoPage>::Source repos_of(std::string origin, transport::HostOrigin named_by);
Listing<RepoPage>::Source repos_with_collection(std::string relay, std::string collection,
                                                transport::HostOrigin named_by);
Listing<HostPage>::Source hosts_of(std::string relay, transport::HostOrigin named_by,
                                   bool allow_private_hosts);

}  // namespace skua::backfill

namespace skua::backfill::impl {

/// The used fields of an entry of listRepos, listReposByCollection or listHosts. A field that is
/// absent or of another type is empty. If an entry is not an object, all fields are empty.
struct ListEntry {
  std::string did;
  std::string rev;
  std::optional<bool> active;
  std::string hostname;
  std::string status;
  std::optional<std::uint64_t> account_count;
};

/// Reads the entries of the list called `name` one by one, and returns the page's cursor. The
/// cursor is empty if there is none, or if the list is absent or null, which ends a list. Memory is
/// bounded by about the longest string of the text. Discard the entries after an error. The errors
/// are list_form and list_too_long.
Result<std::string> read_list(std::string_view json, std::string_view name,
                              const std::function<void(const ListEntry&)>& each);

}  // namespace skua::backfill::impl
