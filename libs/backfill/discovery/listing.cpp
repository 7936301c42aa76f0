#include "backfill/discovery/listing.hpp"

#include <utility>

#include "backfill/errc.hpp"

namespace skua::backfill {

namespace {

constexpr std::size_t kMaxPageBytes = 8 * 1024 * 1024;
/// Pages of inactive accounts have entries, so no genuine list has this many empty pages.
constexpr std::size_t kMostEmptyPages = 1000;

}  // namespace

template <class Page>
Listing<Page>::Listing(transport::HttpClient& http, const Clock& clock, Source source,
                       std::string cursor)
    : http_(http),
      clock_(clock),
      source_(std::move(source)),
      cursor_(std::move(cursor)),
      landmark_(cursor_) {}

template <class Page>
std::variant<Page, HostLimited, RequestFailed> Listing<Page>::next() {
  transport::HttpRequest request;
  request.url = source_.url_of(cursor_);
  request.origin = source_.origin;
  request.max_body_bytes = kMaxPageBytes;
  const auto answer = http_.send(std::move(request));
  if (!answer) return RequestFailed{failure_message(answer), std::nullopt};
  const auto wait = transport::asked_wait(*answer, clock_.now());
  if (answer->status == 429) return HostLimited{wait};
  if (answer->status != 200) return RequestFailed{failure_message(answer), wait};
  auto page = source_.read(answer->body);
  if (!page) return RequestFailed{page.error().message(), std::nullopt};
  if (page->cursor == cursor_ || page->cursor == landmark_) page->cursor.clear();
  if (const auto error = advance(*page)) return RequestFailed{error.message(), std::nullopt};
  return *std::move(page);
}

template <class Page>
ErrorCode Listing<Page>::advance(const Page& page) {
  if (page.cursor.empty()) return {};
  if (page.entries() == 0 && empty_pages_ + 1 == kMostEmptyPages) return errc::list_empty_pages;
  empty_pages_ = page.entries() == 0 ? empty_pages_ + 1 : 0;
  cursor_ = page.cursor;
  if (++pages_since_landmark_ == next_landmark_after_) {
    landmark_ = cursor_;
    pages_since_landmark_ = 0;
    next_landmark_after_ *= 2;
  }
  return {};
}

template class Listing<RepoPage>;
template class Listing<HostPage>;

Listing<RepoPage>::Source repos_of(std::string origin, transport::HostOrigin named_by) {
  return {[origin = std::move(origin)](std::string_view cursor) {
            return list_repos_url(origin, cursor);
          },
          read_repo_page, named_by};
}

Listing<RepoPage>::Source repos_with_collection(std::string relay, std::string collection,
                                                transport::HostOrigin named_by) {
  return {[relay = std::move(relay), collection = std::move(collection)](std::string_view cursor) {
            return list_repos_by_collection_url(relay, collection, cursor);
          },
          read_repo_page, named_by};
}

Listing<HostPage>::Source hosts_of(std::string relay, transport::HostOrigin named_by,
                                   bool allow_private_hosts) {
  return {
      [relay = std::move(relay)](std::string_view cursor) { return list_hosts_url(relay, cursor); },
      [allow_private_hosts](std::string_view json) {
        return read_host_page(json, allow_private_hosts);
      },
      named_by};
}

}  // namespace skua::backfill
