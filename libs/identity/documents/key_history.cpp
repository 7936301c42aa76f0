#include "documents/key_history.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "documents/errc.hpp"
#include "documents/export_page.hpp"
#include "documents/plc_export.hpp"

namespace skua::documents {
namespace {

constexpr std::size_t kMaxLog = 8 * 1024 * 1024;

Result<KeyHistory> history_of(const transport::HttpAnswer& answer, std::string_view did) {
  if (answer.status == 429) return errc::rate_limited;
  if (answer.status == 404 || answer.status == 410) return errc::did_not_found;
  if (answer.status != 200) return errc::server_failed;
  return read_key_history(std::string_view(answer.body), did);
}

}  // namespace

Result<KeyHistory> read_key_history(std::string_view json, std::string_view did) {
  const auto log = nlohmann::json::parse(json, nullptr, false);
  if (!log.is_array()) return errc::document_json;
  KeyHistory history;
  for (const auto& operation : log) {
    // Each operation has the form of a line of the export.
    const auto line = parse_export_line(operation.dump());
    if (!line || line->nullified || line->row.did != did) continue;
    FormerKey former{*line->row.operation_at, std::nullopt};
    if (const auto key = atproto::Multikey::parse(line->row.signing_key)) former.key = *key;
    if (const auto key = atproto::Multikey::parse(line->row.label_key)) former.label_key = *key;
    history.push_back(former);
  }
  std::stable_sort(history.begin(), history.end(),
                   [](const auto& a, const auto& b) { return a.since < b.since; });
  return history;
}

std::vector<atproto::Multikey> keys_near(const KeyHistory& history, Timestamp time, KeyUse use) {
  struct Near {
    Timestamp::duration distance;
    atproto::Multikey key;
  };
  std::vector<Near> near;
  // Begins with the newest key, so that of two equally near keys the newer one comes first.
  for (std::size_t i = history.size(); i-- > 0;) {
    const auto& key = use == KeyUse::Labels ? history[i].label_key : history[i].key;
    if (!key) continue;
    Timestamp::duration distance{0};
    if (time < history[i].since) {
      distance = history[i].since - time;
    } else if (i + 1 < history.size() && time >= history[i + 1].since) {
      distance = time - history[i + 1].since;
      if (distance > kReplacedKeyTolerance) continue;
    }
    near.push_back({distance, *key});
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::vector<atproto::Multikey> keys;
  for (const Near& one : near) {
    if (keys.size() == kMaxKeysNear) break;
    if (std::find(keys.begin(), keys.end(), one.key) == keys.end()) keys.push_back(one.key);
  }
  return keys;
}

Result<transport::HttpRequest> key_history_request(const std::string& plc_url,
                                                   const std::string& did) {
  if (!atproto::is_plc_did(did)) return errc::did_method;
  transport::HttpRequest request;
  request.url = plc_url + "/" + did + "/log/audit";
  request.origin = transport::HostOrigin::configured;
  request.max_body_bytes = kMaxLog;
  return request;
}

Result<KeyHistory> read_key_history(const Result<transport::HttpAnswer>& answer,
                                    std::string_view did) {
  if (!answer) return answer.error();
  return read_input<Result<KeyHistory>>(did, [&] { return history_of(*answer, did); });
}

}  // namespace skua::documents
