#include "backfill/discovery/listing.hpp"

#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "backfill/errc.hpp"

namespace skua::backfill {

namespace {

constexpr std::size_t kMaxPageBytes = 8 * 1024 * 1024;
/// The number of empty pages in a row after which a list is not genuine. Even pages of inactive
/// accounts have entries.
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
  // After a repeated cursor no new entries would follow, so the list ends here.
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

namespace skua::backfill::impl {

namespace {

/// The maximum number of entries. It is ten times the allowed size of a page, to tolerate hosts
/// that ignore the limit, but not unlimited pages.
constexpr std::size_t kMostEntries = 20'000;
constexpr std::size_t kLongestCursor = 4096;

/// Receives the parser's events. A tree of values could take a hundred times the memory of a text
/// that consists of brackets.
class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(std::string_view list, const std::function<void(const ListEntry&)>& each)
      : list_(list), each_(each) {}

  bool null() override { return begin(Kind::Null); }
  bool number_integer(number_integer_t) override { return begin(Kind::Other); }
  bool number_float(number_float_t, const string_t&) override { return begin(Kind::Other); }
  bool binary(binary_t&) override { return begin(Kind::Other); }

  bool boolean(bool value) override {
    if (in_entry() && key_ == "active") entry_.active = value;
    return begin(Kind::Other);
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (in_entry() && key_ == "accountCount") entry_.account_count = value;
    return begin(Kind::Other);
  }

  bool string(string_t& value) override {
    if (!begin(Kind::Text)) return false;
    if (at_cursor()) return take(value);
    if (auto* field = in_entry() ? text_field() : nullptr) *field = std::move(value);
    return true;
  }

  bool key(string_t& value) override {
    if (depth_ == 1 || in_entry()) key_ = std::move(value);
    return true;
  }

  bool start_object(std::size_t) override {
    if (!begin(Kind::Object)) return false;
    ++depth_;
    return true;
  }

  bool end_object() override {
    --depth_;
    if (depth_ == 2 && std::exchange(is_entry_open_, false)) each_(entry_);
    return true;
  }

  bool start_array(std::size_t) override {
    if (!begin(Kind::Array)) return false;
    if (at_list()) has_list_ = in_list_ = true;
    ++depth_;
    return true;
  }

  bool end_array() override {
    --depth_;
    if (depth_ == 1) in_list_ = false;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool has_list() const { return has_list_; }
  bool is_too_long() const { return entries_ > kMostEntries; }
  const std::string& cursor() const { return cursor_; }

 private:
  enum class Kind : std::uint8_t { Object, Array, Text, Null, Other };

  bool at_cursor() const { return depth_ == 1 && key_ == "cursor"; }
  bool at_list() const { return depth_ == 1 && key_ == list_; }
  /// Whether the current key is a field of an entry, and not of an object inside of the entry.
  bool in_entry() const { return depth_ == 3 && is_entry_open_; }

  /// Checks a value at its start. Returns false if no value is allowed here.
  bool begin(Kind kind) {
    if (depth_ == 0) return kind == Kind::Object;
    if (at_cursor()) return kind == Kind::Text || kind == Kind::Null;
    if (at_list()) return kind == Kind::Array || kind == Kind::Null;
    // The answer is an error, and not a list.
    if (depth_ == 1 && key_ == "error") return false;
    if (depth_ != 2 || !in_list_) return true;
    if (++entries_ > kMostEntries) return false;
    entry_ = {};
    is_entry_open_ = kind == Kind::Object;
    if (!is_entry_open_) each_(entry_);
    return true;
  }

  /// The cursor is refused if it contains NUL, because it is stored unchanged, and PostgreSQL's
  /// text cannot contain NUL.
  bool take(std::string& cursor) {
    if (cursor.size() > kLongestCursor || cursor.find('\0') != std::string::npos) return false;
    cursor_ = std::move(cursor);
    return true;
  }

  std::string* text_field() {
    if (key_ == "did") return &entry_.did;
    if (key_ == "rev") return &entry_.rev;
    if (key_ == "hostname") return &entry_.hostname;
    if (key_ == "status") return &entry_.status;
    return nullptr;
  }

  const std::string_view list_;
  const std::function<void(const ListEntry&)>& each_;
  std::size_t depth_ = 0;
  /// The last key of the page, or of the entry within an entry.
  std::string key_;
  std::string cursor_;
  bool has_list_ = false;
  bool in_list_ = false;
  bool is_entry_open_ = false;
  ListEntry entry_;
  std::size_t entries_ = 0;
};

}  // namespace

Result<std::string> read_list(std::string_view json, std::string_view name,
                              const std::function<void(const ListEntry&)>& each) {
  Handler handler(name, each);
  const bool is_whole = nlohmann::json::sax_parse(json, &handler);
  if (handler.is_too_long()) return errc::list_too_long;
  if (!is_whole) return errc::list_form;
  // Some servers omit an empty list, or send null. The cursor of such a page is ignored, because no
  // page follows.
  return handler.has_list() ? handler.cursor() : std::string();
}

}  // namespace skua::backfill::impl
