#include "backfill/repository/repo_answer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backfill/query_text.hpp"
#include "base/ascii.hpp"
#include "base/utf8.hpp"
#include "repo/car_reader.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {
namespace {

using nlohmann::json;

constexpr unsigned kOk = 200;
constexpr unsigned kTooMany = 429;

/// The answers that are final (com.atproto.sync.getRepo), and what they mean.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFinal = {{
    {"RepoNotFound", "the host has no such repository"},
    {"RepoTakendown", "the host has taken the repository down"},
    {"RepoSuspended", "the host has suspended the account"},
    {"RepoDeactivated", "the owner has deactivated the account, or has moved away"},
}};

struct XrpcError {
  std::string name;
  std::string message;
};

/// A part of what a stranger wrote that can stand in a line for people.
std::string shown(const json& object, const char* field, std::size_t most) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_string()) return {};
  auto text = found->get<std::string>();
  if (text.size() > most) {
    text.resize(most);
    while (!text.empty() && !is_utf8(text)) text.pop_back();
    text += "...";
  }
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return text;
}

XrpcError xrpc_error(const transport::HttpAnswer& answer) {
  constexpr std::size_t kLongestBody = 16 * 1024;
  constexpr std::size_t kLongestName = 64;
  constexpr std::size_t kLongestMessage = 200;
  if (answer.body.size() > kLongestBody) return {};
  const auto body = json::parse(answer.body, nullptr, false);
  if (!body.is_object()) return {};
  return {shown(body, "error", kLongestName), shown(body, "message", kLongestMessage)};
}

/// Whether a body is a page or a text. The Content-Type may be wrong in both directions, so it
/// counts only for a body that is no CAR.
bool is_page(const transport::HttpAnswer& answer) {
  const ByteView body = transport::body_of(answer);
  if (repo::CarReader::open(body)) return false;
  const auto type = ascii_lower(answer.content_type);
  if (type.starts_with("text/") || type.starts_with("application/json")) return true;
  constexpr std::size_t kEnough = 64;
  const auto begin = ascii_lower(trimmed(as_text(body).substr(0, kEnough)));
  return begin.starts_with("<!doctype") || begin.starts_with("<html") || begin.starts_with("{");
}

std::string what_to_do(const ErrorCode& error) {
  if (error == transport::errc::http_too_large) {
    return "; --largest-repository raises it, if this account is wanted";
  }
  if (error == transport::errc::spool_failed) {
    return "; see that the folder for temporary files can be written to and has room";
  }
  return {};
}

std::string status_reason(const transport::HttpAnswer& answer) {
  const auto error = xrpc_error(answer);
  auto message = fmt::format("the host answered {}", answer.status);
  if (!error.name.empty()) message += " " + error.name;
  if (!error.message.empty()) message += ": " + error.message;
  return message;
}

}  // namespace

std::string failure_message(const Result<transport::HttpAnswer>& answer) {
  if (!answer) return answer.error().message() + what_to_do(answer.error());
  if (answer->status == kTooMany) return "the host answered 429: it wants to be asked less often";
  if (answer->status != kOk) return status_reason(*answer);
  if (transport::body_of(*answer).empty()) return "the host answered with nothing";
  return "the host answered with a page or a text instead of a repository";
}

RepoAnswer classify_repo_answer(const Result<transport::HttpAnswer>& answer, Timestamp now) {
  if (!answer) return RequestFailed{failure_message(answer), std::nullopt};
  const auto wait = transport::asked_wait(*answer, now);
  if (answer->status == kTooMany) return HostLimited{wait};
  if (answer->status == 400 || answer->status == 404) {
    const auto name = xrpc_error(*answer).name;
    const auto* final = std::find_if(kFinal.begin(), kFinal.end(),
                                     [&](const auto& known) { return known.first == name; });
    if (final != kFinal.end())
      return RepoUnavailable{name, fmt::format("{}: {}", name, final->second)};
  }
  const bool is_car =
      answer->status == kOk && !transport::body_of(*answer).empty() && !is_page(*answer);
  if (!is_car) return RequestFailed{failure_message(answer), wait};
  return CarAnswer{};
}

std::string get_repo_url(std::string_view host, std::string_view did,
                         std::optional<atproto::Tid> since) {
  auto url = fmt::format("{}/xrpc/com.atproto.sync.getRepo?did={}", host, query_text(did));
  if (since) url += "&since=" + since->to_string();
  return url;
}

}  // namespace skua::backfill
