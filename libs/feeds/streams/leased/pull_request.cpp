#include "streams/leased/pull_request.hpp"

#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"
#include "streams/node_positions.hpp"

namespace skua::streams {

namespace {

using nlohmann::json;

constexpr std::int64_t kMostChanges = 10'000;
constexpr std::int64_t kLongestLease = 3'600;
/// A fetch waits at most this number of seconds, which is less than the server's limit for an
/// answer.
constexpr std::int64_t kLongestWait = 20;
constexpr std::int64_t kLongestRetry = 86'400;
constexpr std::size_t kErrorCharacters = 1'000;
constexpr std::size_t kMostRejected = 1'000;

const std::set<std::string>& members_of(PullAction action) {
  static const std::map<PullAction, std::set<std::string>> kMembers = {
      {PullAction::Fetch, {"consumer", "max", "lease_seconds", "wait_seconds"}},
      {PullAction::Ack, {"consumer", "batch", "through", "rejected", "lease_seconds"}},
      {PullAction::Nack, {"consumer", "batch", "pos", "error", "retry_seconds", "reject"}},
      {PullAction::Renew, {"consumer", "batch", "lease_seconds"}}};
  return kMembers.at(action);
}

/// Reads the members of a body, and keeps the first error.
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
  /// Reads a position of the batch that is of this node.
  std::optional<Position> position(const char* name, std::string_view node) {
    const auto given = text(name);
    if (!given) return std::nullopt;
    const auto [of_node, position] = without_node(*given);
    auto parsed = parse_position(position);
    if (!parsed || of_node != node) {
      fail(fmt::format("{} is a position such as {}", name, with_node(node, "1-4711")));
    }
    return parsed;
  }
  /// Reads the changes that an ack excludes.
  std::vector<PullRequest::Rejected> rejected(std::string_view node) {
    std::vector<PullRequest::Rejected> all;
    const auto found = body_.find("rejected");
    if (found == body_.end()) return all;
    if (!found->is_array() || found->size() > kMostRejected) {
      fail(fmt::format("rejected is a list of at most {} changes", kMostRejected));
      return all;
    }
    for (const json& entry : *found) {
      BodyReader reader(entry);
      const auto position = entry.is_object() ? reader.position("pos", node) : std::nullopt;
      const auto error = entry.is_object() ? reader.text("error") : std::nullopt;
      const std::size_t known = (position ? 1U : 0U) + (error ? 1U : 0U);
      if (!position || entry.size() != known) {
        fail(fmt::format(
            "an entry of rejected has pos, a position such as {}, and possibly error, a "
            "text",
            with_node(node, "1-4711")));
        return all;
      }
      all.push_back({*position, printable(error.value_or(kRefused), kErrorCharacters)});
    }
    return all;
  }
  void fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }
  const std::string& error() const { return error_; }

 private:
  const json& body_;
  std::string error_;
};

/// Reads a number and the character after it. Returns false if the text does not begin with them.
template <class Number>
bool read_part(std::string_view& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || after == end || *after != '-') return false;
  text.remove_prefix(static_cast<std::size_t>(after - text.data()) + 1);
  return true;
}

/// Returns false if the text does not have the form of a lease.
bool read_lease(std::string_view text, PullRequest& request) {
  consumers::LeaseName& lease = request.lease;
  if (!read_part(text, lease.lane) || !read_part(text, lease.epoch) ||
      !read_part(text, request.last_change)) {
    return false;
  }
  lease.owner = text;
  return !text.empty();
}

}  // namespace

std::string token_hash(std::string_view token) {
  return hex_text(atproto::sha256(as_bytes(token)));
}

std::string lease_text(const consumers::LeaseName& lease, std::int64_t last_change) {
  return fmt::format("{}-{}-{}-{}", lease.lane, lease.epoch, last_change, lease.owner);
}

Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body) {
  // The parser builds no values that are nested deeper than valid ones, because the thread of the
  // sockets calls this function. Only an ack has a list of objects.
  const int deepest = action == PullAction::Ack ? 3 : 1;
  const auto is_shallow = [deepest](int depth, json::parse_event_t /*event*/,
                                    const json& /*value*/) { return depth <= deepest; };
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
  if (action != PullAction::Fetch) {
    const std::string batch = reader.text("batch").value_or("");
    const auto [node, lease] = without_node(batch);
    request.node = node;
    if (!read_lease(lease, request)) {
      reader.fail("batch is not the batch of an answer to fetch");
    }
  }
  const auto lease_seconds = reader.number("lease_seconds", 1, kLongestLease);
  if (lease_seconds) request.lease_time = std::chrono::seconds(*lease_seconds);
  request.max = static_cast<std::int32_t>(reader.number("max", 1, kMostChanges).value_or(100));
  request.wait = std::chrono::seconds(reader.number("wait_seconds", 0, kLongestWait).value_or(0));
  request.position = reader.position(action == PullAction::Ack ? "through" : "pos", request.node);
  if (action == PullAction::Ack) request.rejected = reader.rejected(request.node);
  request.is_final = reader.boolean("reject").value_or(false);
  if (const auto error = reader.text("error")) request.error = printable(*error, kErrorCharacters);
  if (const auto retry = reader.number("retry_seconds", 0, kLongestRetry)) {
    request.retry = std::chrono::seconds(*retry);
  }
  if (!reader.error().empty()) return reader.error();
  return request;
}

}  // namespace skua::streams
