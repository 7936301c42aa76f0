#include "xrpc/record_methods.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "atproto/sha256.hpp"
#include "atproto/syntax.hpp"
#include "base/account_number.hpp"
#include "base/bytes.hpp"
#include "event/json_transcoder.hpp"
#include "records/json_text.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor.hpp"
#include "writer/table_writer.hpp"
#include "xrpc/record_methods.sql.hpp"

namespace skua::xrpc {

namespace {

using http_server::error_response;
using http_server::parameter;
using http_server::Request;
using http_server::Response;
using Text = std::optional<std::string>;

/// The size of the JSON after which a page of listRecords ends. Its cursor continues.
constexpr std::size_t kPageBytes = 8'000'000;

/// A request that is refused, with the answer.
struct Refusal {
  Response response;
};

[[noreturn]] void refuse(std::string_view error, std::string_view message) {
  throw Refusal{error_response(400, error, message)};
}

/// Returns a required parameter that has the form.
std::string required_parameter(const Request& request, const char* name,
                               bool (*is_valid)(std::string_view), std::string_view form) {
  auto value = parameter(request, name);
  if (!value) {
    refuse("InvalidRequest", fmt::format("Error: Params must have the property \"{}\"", name));
  }
  if (!is_valid(*value)) {
    refuse("InvalidRequest", fmt::format("Error: {} must be a valid {}", name, form));
  }
  return std::move(*value);
}

bool is_account(std::string_view text) {
  return atproto::is_did(text) || atproto::is_handle(text);
}

std::string repo_parameter(const Request& request) {
  return required_parameter(request, "repo", is_account, "did or a handle");
}

std::string collection_parameter(const Request& request) {
  return required_parameter(request, "collection", atproto::is_nsid, "nsid");
}

/// A row of xrpc_account.
struct AccountRow {
  AccountNumber id;
  std::string did;
  Text handle;
  bool handle_valid;
  std::optional<bool> active;
  Text status;
  bool is_excluded;
};

/// Returns the account of a DID or handle, if its records may be shown. `not_found` is the error
/// for an account that is not known, excluded or deleted; a PDS has another one for each method.
AccountRow shown_account(postgres::Session& session, const std::string& repo,
                         std::string_view not_found) {
  auto account = session.query_first<AccountRow>(sql::xrpc_account, repo);
  if (!account || account->is_excluded) {
    refuse(not_found, fmt::format("Could not find repo: {}", repo));
  }
  if (account->active == false) {
    const std::string status = account->status.value_or("deactivated");
    if (status == "deleted") refuse(not_found, fmt::format("Could not find repo: {}", repo));
    if (status == "takendown") {
      refuse("RepoTakendown", fmt::format("Repo has been takendown: {}", account->did));
    }
    if (status == "suspended") {
      refuse("RepoSuspended", fmt::format("Repo has been suspended: {}", account->did));
    }
    refuse("RepoDeactivated", fmt::format("Repo has been deactivated: {}", account->did));
  }
  return std::move(*account);
}

/// Writes records as the JSON of their blocks.
class ValueWriter {
 public:
  explicit ValueWriter(ReadMetrics& metrics) : metrics_(metrics) {}

  /// Returns the JSON of a record: of its block, or of the JSON in the database, whose entries get
  /// the order of a block. Text that cannot be encoded stays.
  std::string value(const atproto::Digest& cid, std::string&& json,
                    const std::optional<Bytes>& block) {
    metrics_.records += 1;
    block_.clear();
    if (block) {
      block_ = *block;
    } else if (!transcoder_.append(json, block_)) {
      metrics_.mismatches += 1;
      return std::move(json);
    }
    if (atproto::Cid::of(block_).digest != cid) metrics_.mismatches += 1;
    if (!repo::read_dag_cbor(block_, document_, repo::kAnyForm)) return std::move(json);
    std::string text;
    records::append_json(text, document_.root(), records::Nul::Escape);
    return text;
  }

 private:
  ReadMetrics& metrics_;
  event::JsonTranscoder transcoder_;
  atproto::Document document_;
  Bytes block_;
};

std::string cid_text(const atproto::Digest& digest) {
  return atproto::Cid{atproto::Cid::kDagCbor, digest}.to_string();
}

void append_record(std::string& out, std::string_view uri, std::string_view cid,
                   std::string_view value) {
  out += R"({"uri":)";
  records::append_json_string(out, uri);
  out += fmt::format(R"(,"cid":"{}","value":)", cid);
  out += value;
  out += '}';
}

/// A row of xrpc_record.
struct ShownRecord {
  atproto::Digest cid;
  std::string json;
  std::optional<Bytes> block;
};

/// A row of xrpc_records. `place` counts from 1.
struct PlacedRecord {
  std::int64_t place;
  atproto::Digest cid;
  std::string json;
  std::optional<Bytes> block;
};

struct KeyRow {
  std::string rkey;
  std::int64_t number;
};

constexpr std::int64_t kAllTids = std::numeric_limits<std::int64_t>::max();

/// Returns a statement for the next record keys of a collection in the order of their texts. $1 is
/// the account, $2 the collection, $3 and $4 the range of TIDs, $5 the key before the first one,
/// and $6 the number of keys. Keys that are TIDs are read in the order of the primary key, of any
/// other key all texts of the account and collection.
postgres::Statement keys_statement(std::int32_t collection_id, bool is_ascending) {
  std::vector<const writer::TableWriter*> tables = {&writer::records_table()};
  if (const auto* table = writer::table_of(collection_id)) tables.push_back(table);
  const std::string order = is_ascending ? "" : " DESC";
  std::string parts;
  for (const writer::TableWriter* table : tables) {
    const std::string where = fmt::format(
        "FROM {} AS t WHERE t.actor_id = $1::int8{} AND t.cid IS NOT NULL", table->name(),
        table->collection_id() == 0 ? " AND t.collection_id = $2::int4" : "");
    parts += fmt::format(
        "{0}(SELECT bsky.tid_text(t.rkey) AS text, t.rkey {1} AND t.rkey >= $3::int8 AND t.rkey <= "
        "$4::int8 ORDER BY t.rkey{2} LIMIT $6::int8) UNION ALL (SELECT k.text, k.rkey FROM (SELECT "
        "bsky.rkey_text(t.actor_id, $2::int4, t.rkey) AS text, t.rkey {1} AND t.rkey < 0 OFFSET 0) "
        "AS k WHERE ($5::text IS NULL OR k.text COLLATE \"C\" {3} $5::text) ORDER BY k.text "
        "COLLATE "
        "\"C\"{2} LIMIT $6::int8)",
        parts.empty() ? "" : " UNION ALL ", where, order, is_ascending ? ">" : "<");
  }
  return {
      fmt::format("xrpc_keys_{}_{}", tables.back()->name(), is_ascending ? "up" : "down"),
      fmt::format("SELECT q.text, q.rkey FROM ({}) AS q WHERE q.text IS NOT NULL ORDER BY q.text "
                  "COLLATE \"C\"{} LIMIT $6::int8",
                  parts, order)};
}

struct ListParameters {
  std::int64_t limit = 50;
  Text cursor;
  bool is_reverse = false;
};

ListParameters list_parameters(const Request& request) {
  ListParameters list;
  if (const auto limit = parameter(request, "limit")) {
    const char* const end = limit->data() + limit->size();
    const auto [at, error] = std::from_chars(limit->data(), end, list.limit);
    if (error != std::errc{} || at != end) {
      refuse("InvalidRequest", "Error: limit must be an integer");
    }
    if (list.limit > 100) refuse("InvalidRequest", "Error: limit can not be greater than 100");
    if (list.limit < 1) refuse("InvalidRequest", "Error: limit can not be less than 1");
  }
  if (const auto reverse = parameter(request, "reverse")) {
    if (*reverse != "true" && *reverse != "false") {
      refuse("InvalidRequest", "Error: reverse must be a boolean");
    }
    list.is_reverse = *reverse == "true";
  }
  list.cursor = parameter(request, "cursor");
  return list;
}

std::vector<std::string> collections_of(postgres::Session& session, AccountNumber actor_id) {
  std::string parts;
  for (std::int32_t id = 1; id <= static_cast<std::int32_t>(records::kTypedCollections); ++id) {
    const auto* table = writer::table_of(id);
    if (table == nullptr) continue;
    parts += fmt::format(
        "{}SELECT '{}' WHERE EXISTS (SELECT FROM {} AS t WHERE t.actor_id = $1::int8 AND t.cid IS "
        "NOT NULL)",
        parts.empty() ? "" : " UNION ALL ",
        records::kCollectionNames.at(static_cast<std::size_t>(id) - 1), table->name());
  }
  std::set<std::string> names;
  for (std::string& name :
       session.query<std::string>(postgres::Statement{"xrpc_collections", parts}, actor_id)) {
    names.insert(std::move(name));
  }
  for (std::string& name : session.query<std::string>(sql::xrpc_other_collections, actor_id)) {
    names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

/// A row of xrpc_identity.
struct IdentityRow {
  Text handle;
  Text signing_key;
  Text pds;
  Text label_key;
};

/// Returns a DID document of the parts that the database has.
nlohmann::ordered_json did_document(postgres::Session& session, const AccountRow& account) {
  nlohmann::ordered_json document = {
      {"@context", {"https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"}},
      {"id", account.did}};
  const auto identity = session.query_first<IdentityRow>(sql::xrpc_identity, account.did);
  const Text handle = identity && identity->handle ? identity->handle : account.handle;
  if (handle) document["alsoKnownAs"].push_back("at://" + *handle);
  if (!identity) return document;
  for (const auto& [name, key] : {std::pair{"#atproto", &identity->signing_key},
                                  std::pair{"#atproto_label", &identity->label_key}}) {
    if (!*key) continue;
    document["verificationMethod"].push_back({{"id", account.did + name},
                                              {"type", "Multikey"},
                                              {"controller", account.did},
                                              {"publicKeyMultibase", **key}});
  }
  if (identity->pds) {
    document["service"].push_back({{"id", "#atproto_pds"},
                                   {"type", "AtprotoPersonalDataServer"},
                                   {"serviceEndpoint", *identity->pds}});
  }
  return document;
}

/// Runs a method, whose refusal is its answer.
template <class F>
Response answer(F&& method) {
  try {
    return method();
  } catch (const Refusal& refusal) {
    return refusal.response;
  }
}

}  // namespace

TidRange tids_beside(const std::optional<std::string>& key, bool after) {
  constexpr std::string_view kLetters = "234567abcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t kDigits = 13;
  constexpr std::uint64_t kFirstDigits = 8;
  if (!key) return {0, kAllTids};
  // `number` becomes the smallest number whose text does not stand before the key.
  std::uint64_t number = 0;
  bool is_same = true;
  for (std::size_t i = 0; i < kDigits; ++i) {
    std::uint64_t digit = 0;
    if (is_same && i < key->size()) {
      const auto* const place =
          std::lower_bound(kLetters.begin(), kLetters.end(), (*key)[i], [](char a, char b) {
            return static_cast<unsigned char>(a) < static_cast<unsigned char>(b);
          });
      digit = static_cast<std::uint64_t>(place - kLetters.begin());
      is_same = place != kLetters.end() && *place == (*key)[i];
    } else {
      is_same = false;
    }
    if (i == 0 && digit >= kFirstDigits) return after ? TidRange{} : TidRange{0, kAllTids};
    // The carry of a digit beyond the last letter goes into the number before it.
    number = (number << 5U) + digit;
  }
  // The text of the number is the key, or the front of a longer key.
  if (is_same && key->size() > kDigits) ++number;
  if (!after) return {0, static_cast<std::int64_t>(number - 1)};
  if (is_same && key->size() == kDigits) ++number;
  if (number > static_cast<std::uint64_t>(kAllTids)) return {};
  return {static_cast<std::int64_t>(number), kAllTids};
}

Response get_record(postgres::Session& session, const Request& request, ReadMetrics& metrics) {
  return answer([&] {
    const std::string repo = repo_parameter(request);
    const std::string collection = collection_parameter(request);
    const std::string rkey =
        required_parameter(request, "rkey", atproto::is_record_key, "record key");
    const auto cid = parameter(request, "cid");
    if (cid && !atproto::is_cid_text(*cid)) {
      refuse("InvalidRequest", "Error: cid must be a cid string");
    }
    const AccountRow account = shown_account(session, repo, "InvalidRequest");
    const std::string uri = fmt::format("at://{}/{}/{}", account.did, collection, rkey);
    auto record = session.query_first<ShownRecord>(sql::xrpc_record, account.id, collection, rkey);
    if (!record || (cid && *cid != cid_text(record->cid))) {
      refuse("RecordNotFound", fmt::format("Could not locate record: {}", uri));
    }
    Response response;
    append_record(response.body, uri, cid_text(record->cid),
                  ValueWriter(metrics).value(record->cid, std::move(record->json), record->block));
    return response;
  });
}

Response list_records(postgres::Session& session, const Request& request, ReadMetrics& metrics) {
  return answer([&] {
    const std::string repo = repo_parameter(request);
    const std::string collection = collection_parameter(request);
    const ListParameters list = list_parameters(request);
    const AccountRow account = shown_account(session, repo, "InvalidRequest");
    const auto collection_id = session.query_first<std::int32_t>(sql::xrpc_collection, collection);
    std::vector<KeyRow> keys;
    if (collection_id) {
      const TidRange tids = tids_beside(list.cursor, list.is_reverse);
      keys = session.query<KeyRow>(keys_statement(*collection_id, list.is_reverse), account.id,
                                   *collection_id, tids.first, tids.last, list.cursor, list.limit);
    }
    Response response;
    std::string records;
    ValueWriter writer(metrics);
    std::string_view last;
    constexpr std::size_t kGroup = 10;
    std::span<const KeyRow> rest = keys;
    while (!rest.empty() && records.size() < kPageBytes) {
      const auto group = rest.first(std::min(rest.size(), kGroup));
      rest = rest.subspan(group.size());
      last = group.back().rkey;
      const std::vector<std::int64_t> actors(group.size(), account.id);
      const std::vector<std::int32_t> collections(group.size(), *collection_id);
      for (PlacedRecord& record : session.query<PlacedRecord>(
               sql::xrpc_records, actors, collections,
               postgres::column(group, [](const KeyRow& key) { return key.number; }))) {
        const std::string& rkey = group[static_cast<std::size_t>(record.place) - 1].rkey;
        if (!records.empty()) records += ',';
        append_record(records, fmt::format("at://{}/{}/{}", account.did, collection, rkey),
                      cid_text(record.cid),
                      writer.value(record.cid, std::move(record.json), record.block));
      }
    }
    response.body = R"({"records":[)" + records + ']';
    if (!last.empty()) {
      response.body += R"(,"cursor":)";
      records::append_json_string(response.body, last);
    }
    response.body += '}';
    return response;
  });
}

Response describe_repo(postgres::Session& session, const Request& request) {
  return answer([&] {
    const AccountRow account = shown_account(session, repo_parameter(request), "RepoNotFound");
    const nlohmann::ordered_json body = {
        {"handle", account.handle.value_or("handle.invalid")},
        {"did", account.did},
        {"didDoc", did_document(session, account)},
        {"collections", collections_of(session, account.id)},
        {"handleIsCorrect", account.handle && account.handle_valid}};
    return Response{.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  });
}

void add_record_methods(http_server::Server::Routes& routes, ReadRequests& requests,
                        ReadMetrics& metrics) {
  requests.add_route(routes, "/xrpc/com.atproto.repo.getRecord",
                     [&metrics](postgres::Session& session, const Request& request) {
                       return get_record(session, request, metrics);
                     });
  requests.add_route(routes, "/xrpc/com.atproto.repo.listRecords",
                     [&metrics](postgres::Session& session, const Request& request) {
                       return list_records(session, request, metrics);
                     });
  requests.add_route(routes, "/xrpc/com.atproto.repo.describeRepo", describe_repo);
  routes["/xrpc/*"] = {
      http_server::Method::Get, [](const std::shared_ptr<http_server::Exchange>& exchange) {
        exchange->answer(error_response(501, "MethodNotImplemented", "Method Not Implemented"));
      }};
}

}  // namespace skua::xrpc
