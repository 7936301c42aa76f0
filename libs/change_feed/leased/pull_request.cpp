#include "change_feed/leased/pull_request.hpp"

#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/sha256.hpp"
#include "base/utf8.hpp"

namespace skua::change_feed {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostChanges = 10'000;
constexpr std::int64_t kLongestLease = 3'600;
/// Shorter than the server waits for an answer.
constexpr std::int64_t kLongestWait = 20;
constexpr std::int64_t kLongestRetry = 86'400;
constexpr std::size_t kErrorCharacters = 1'000;

const std::set<std::string>& members_of(PullAction action) {
  static const std::map<PullAction, std::set<std::string>> kMembers = {
      {PullAction::Fetch, {"consumer", "max", "lease_seconds", "wait_seconds"}},
      {PullAction::Ack, {"consumer", "batch", "through", "lease_seconds"}},
      {PullAction::Nack, {"consumer", "batch", "pos", "error", "retry_seconds", "reject"}},
      {PullAction::Renew, {"consumer", "batch", "lease_seconds"}}};
  return kMembers.at(action);
}

/// Reads the members of a body. The first error stays.
class BodyReader {
 public:
  explicit BodyReader(const json& body) : body_(body) {}

  std::optional<std::int64_t> number(const char* name, std::int64_t least, std::int64_t most) {
    const auto found = body_.find(name);
    if (found == body_.end()) return std::nullopt;
    if (found->is_number_integer() && *found >= least && *found <= most) return *found;
    fail(fmt::format("{} is a number from {} to {}", name, least, most));
    return std::nullopt;
  }
  std::optional<std::string> text(const char* name) {
    const auto found = body_.find(name);
    if (found == body_.end()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    fail(fmt::format("{} is a text", name));
    return std::nullopt;
  }
  std::optional<bool> boolean(const char* name) {
    const auto found = body_.find(name);
    if (found == body_.end()) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    fail(fmt::format("{} is true or false", name));
    return std::nullopt;
  }
  std::optional<Position> position(const char* name) {
    const auto given = text(name);
    if (!given) return std::nullopt;
    auto position = parse_position(*given);
    if (!position) fail(fmt::format("{} is a position such as 1-4711", name));
    return position;
  }
  void fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }
  const std::string& error() const { return error_; }

 private:
  const json& body_;
  std::string error_;
};

/// False: the text has another form.
bool read_lease(const std::string& text, feed::LeaseName& lease) {
  const auto first = text.find('-');
  const auto second = first == std::string::npos ? first : text.find('-', first + 1);
  if (second == std::string::npos || second + 1 == text.size()) return false;
  const char* start = text.data();
  const auto lane = std::from_chars(start, start + first, lease.lane);
  const auto epoch = std::from_chars(start + first + 1, start + second, lease.epoch);
  lease.owner = text.substr(second + 1);
  return lane.ec == std::errc() && lane.ptr == start + first && epoch.ec == std::errc() &&
         epoch.ptr == start + second;
}

}  // namespace

std::string token_hash(std::string_view token) {
  const auto digest =
      atproto::sha256({reinterpret_cast<const std::uint8_t*>(token.data()), token.size()});
  std::string text;
  for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string lease_text(const feed::LeaseName& lease) {
  return fmt::format("{}-{}-{}", lease.lane, lease.epoch, lease.owner);
}

Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body) {
  // No member has a value with values, so none is built: the thread of the sockets calls this.
  const auto is_shallow = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    return depth <= 1;
  };
  const json object = json::parse(body, is_shallow, false);
  if (!object.is_object()) return std::string("the body is not a JSON object");
  for (const auto& [name, value] : object.items()) {
    if (!members_of(action).contains(name)) {
      return fmt::format("unknown member '{}'", printable(name, 100));
    }
  }
  BodyReader reader(object);
  PullRequest request;
  request.action = action;
  request.consumer = reader.text("consumer").value_or("");
  if (request.consumer.empty()) reader.fail("consumer is missing");
  if (action != PullAction::Fetch &&
      !read_lease(reader.text("batch").value_or(""), request.lease)) {
    reader.fail("batch is not the batch of an answer to fetch");
  }
  const auto lease_seconds = reader.number("lease_seconds", 1, kLongestLease);
  if (lease_seconds) request.lease_time = std::chrono::seconds(*lease_seconds);
  request.max = static_cast<std::int32_t>(reader.number("max", 1, kMostChanges).value_or(100));
  request.wait = std::chrono::seconds(reader.number("wait_seconds", 0, kLongestWait).value_or(0));
  request.position = reader.position(action == PullAction::Ack ? "through" : "pos");
  request.is_final = reader.boolean("reject").value_or(false);
  if (const auto error = reader.text("error")) request.error = printable(*error, kErrorCharacters);
  if (const auto retry = reader.number("retry_seconds", 0, kLongestRetry)) {
    request.retry = std::chrono::seconds(*retry);
  }
  if (!reader.error().empty()) return reader.error();
  return request;
}

}  // namespace skua::change_feed
