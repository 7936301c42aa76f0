#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounts.hpp"
#include "accounts/network_accounts.hpp"
#include "app/database.hpp"
#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "documents/did_document.hpp"
#include "documents/handle_check.hpp"
#include "documents/plc_export.hpp"
#include "option.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/server_clock.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "tables/cursor_store.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {

namespace {

const Option<std::string> kAccountName({.name = "WHO", .meaning = kWho.meaning});
const Option<bool> kRefresh(
    {.name = "--refresh", .meaning = "Ask the directory even if the database has a recent answer"});

/// The data of an account that the command displays.
struct Shown {
  documents::Account account;
  std::string source;
  bool handle_verified = false;
  /// The reason why the handle is not verified; empty if it is verified, or if there is none.
  std::string handle_problem;
};

std::string handle_text(const Shown& shown) {
  if (shown.account.handle.empty()) return "none";
  if (shown.handle_verified) return shown.account.handle + " (verified both ways)";
  return fmt::format("{} (not verified: {})", shown.account.handle, shown.handle_problem);
}

std::string text_or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

nlohmann::ordered_json json_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

void print(const Shown& shown, bool json) {
  const auto& account = shown.account;
  const std::string key = account.key ? account.key->to_did_key() : "";
  const std::string label_key = account.label_key ? account.label_key->to_did_key() : "";
  const auto fetched = format_datetime(account.fetched_at);
  if (!json) {
    fmt::print("did          {}\nhandle       {}\nsigning key  {}\npds          {}\n", account.did,
               handle_text(shown), text_or_none(key), text_or_none(account.pds));
    if (!label_key.empty()) fmt::print("label key    {}\n", label_key);
    fmt::print("from         {}, {}\n", shown.source, fetched);
    return;
  }
  const nlohmann::ordered_json object = {{"did", account.did},
                                         {"handle", json_or_null(account.handle)},
                                         {"handle_verified", shown.handle_verified},
                                         {"handle_problem", json_or_null(shown.handle_problem)},
                                         {"signing_key", json_or_null(key)},
                                         {"pds", json_or_null(account.pds)},
                                         {"label_key", json_or_null(label_key)},
                                         {"source", shown.source},
                                         {"fetched_at", fetched}};
  fmt::print("{}\n", object.dump(2));
}

void check_handle(const documents::HandleCheck& check, Shown& shown) {
  const auto& account = shown.account;
  if (account.handle.empty()) return;
  const auto verified = check.verify(account.did, account.handle);
  shown.handle_verified = verified.has_value();
  if (!verified) shown.handle_problem = verified.error().message();
}

Result<documents::Account> find(accounts::NetworkAccounts& accounts, const std::string& did,
                                bool refresh) {
  using Freshness = accounts::AccountSource::Freshness;
  // The promise is shared, because the other thread may still use it after this thread has the
  // answer.
  const auto promise = std::make_shared<std::promise<Result<documents::Account>>>();
  auto answer = promise->get_future();
  accounts.identity_once(
      did, refresh ? Freshness::Recent : Freshness::Known,
      [promise](Result<documents::Account> found) { promise->set_value(std::move(found)); });
  return answer.get();
}

int print_identity(const Invocation& invocation) {
  const std::string name = invocation[kAccountName];
  if (name.empty()) throw UsageError(fmt::format("WHO is required: {}", kWho.meaning));
  const auto who = atproto::parse_account_name(name);
  if (!who) throw UsageError(fmt::format("WHO: '{}' is {}", name, who.error().message()));
  auto network = network_accounts(invocation);
  transport::HttpClientOptions http_options;
  http_options.allow_private_hosts = network.allow_private_hosts;
  http_options.ca_file = network.ca_file;
  network.connect_timeout = http_options.connect_timeout;
  network.total_timeout = http_options.total_timeout;
  const auto dns = invocation[kDns];
  if (const auto database = invocation[kDatabase]) {
    app::check_database(*database);
    network.database_url = *database;
    network.application_name = postgres::process_name("skua identity");
  }

  transport::HttpClient http(http_options);
  accounts::NetworkAccounts accounts(network, system_clock());
  const documents::HandleCheck check(http, documents::dns_txt_lookup(dns));

  auto did = *who;
  if (!did.starts_with("did:")) {
    const auto found = check.resolve(did);
    if (!found) {
      command_line::print_stderr("skua identity: {}: {}\n", did, found.error().message());
      return kFailure;
    }
    did = *found;
  }
  const auto answer = find(accounts, did, invocation[kRefresh]);
  if (!answer) {
    command_line::print_stderr("skua identity: {}: {}\n", did,
                               accounts.failure_text(did, answer.error()));
    return kFailure;
  }
  Shown shown;
  shown.account = *answer;
  shown.source =
      accounts.statistics().from_table > 0
          ? "skua.identities"
          : documents::document_url(did, {.plc_url = network.plc_url,
                                          .allow_private_hosts = network.allow_private_hosts})
                .value();
  // The stop waits until a downloaded document is written.
  accounts.stop();
  check_handle(check, shown);
  print(shown, invocation[kJson]);
  return kSuccess;
}

const Option<std::string> kSource(
    {.name = "SOURCE",
     .meaning = "A file of JSON lines, - for standard input, or a directory's URL"});
const Option<std::optional<Timestamp>> kAfter(
    {.name = "--after",
     .type = "TIME",
     .meaning = "For a URL: only operations after this time, such as 2026-07-04T00:00:00Z"},
    [](const SettingValue& given) {
      const auto time = parse_datetime(given.value);
      if (!time) throw UsageError(fmt::format("{}: {}", given.origin, time.error().message()));
      return time->instant;
    });

void show_progress(const documents::PlcImport::Counters& metrics) {
  print_progress(
      fmt::format("{}, up to {}", counted(metrics.lines, "line"), format_datetime(metrics.newest)),
      stderr);
}

bool is_url(const std::string& source) {
  return source.find("://") != std::string::npos;
}

/// The requests of an import from a directory's URL.
struct Download {
  transport::HttpClientOptions http;
  documents::ExportSource source;
};

/// Reads the options of a download. Throws UsageError if the URL, the time or the CA file is
/// malformed.
Download download_of(const Invocation& invocation, const std::string& source) {
  if (const auto url = transport::parse_http_url(source); !url) {
    throw UsageError(fmt::format("SOURCE: '{}': {}; an example is https://plc.directory", source,
                                 url.error().message()));
  }
  Download download;
  download.http.total_timeout = std::chrono::minutes(2);
  download.http.ca_file = invocation[kCaFile];
  download.source.url = source;
  download.source.wait = [url = source](std::chrono::seconds time, const ErrorCode& failure) {
    command_line::print_stderr("skua identity import: {}: {}; retrying in {} s\n", url,
                               failure.message(), time.count());
    std::this_thread::sleep_for(time);
  };
  if (const auto after = invocation[kAfter]) download.source.after = *after;
  return download;
}

/// Imports from a URL. Returns the error; nothing on success.
std::string import_from_url(const Download& download, documents::PlcImport& import) {
  transport::HttpClient http(download.http);
  const auto done = documents::import_pages(http, download.source, import, show_progress);
  return done ? std::string() : done.error().message();
}

/// Stores the position from which `skua run --plc-tail` continues. If `download` begins at a time,
/// the import is a part of the export.
void set_cursor(postgres::Session& session, const documents::PlcImport::Counters& metrics,
                const std::optional<Download>& download) {
  if (metrics.newest == Timestamp{}) return;
  std::optional<Timestamp> since;
  if (download && download->source.after != Timestamp{}) since = download->source.after;
  tables::add_to_plc_cursor(session, since,
                            std::min(metrics.newest, postgres::server_time(session)));
}

int identity_import(const Invocation& invocation) {
  const std::string source = invocation[kSource];
  if (invocation.is_given(kAfter) && !is_url(source))
    throw UsageError("--after is for a URL alone");
  std::optional<Download> download;
  if (is_url(source)) {
    download = download_of(invocation, source);
  } else if (source != "-") {
    require_file(kSource.name, source);
  }
  postgres::Session session = open_database(invocation, "skua identity import");
  documents::PlcImport import(session);
  std::string failure;
  const auto import_stream = [&](std::istream& in) {
    const auto done = documents::import_lines(in, import, show_progress);
    if (!done) failure = done.error().message();
  };
  if (download) {
    failure = import_from_url(*download, import);
  } else if (source == "-") {
    // Without this call, C++ streams are synchronized with C's stdin, and the input is read one
    // character at a time.
    std::ios::sync_with_stdio(false);
    import_stream(std::cin);
  } else {
    std::ifstream in(source);
    if (!in) {
      failure = "cannot be read";
    } else {
      import_stream(in);
    }
  }
  const auto& metrics = import.metrics();
  if (failure.empty()) set_cursor(session, metrics, download);
  fmt::print("{}, {} written, {} nullified, {} bad", counted(metrics.lines, "line"),
             counted(metrics.written, "identity"), metrics.nullified, metrics.bad);
  if (metrics.newest != Timestamp{}) {
    fmt::print(", up to {}", format_datetime(metrics.newest));
  }
  fmt::print("\n");
  if (failure.empty()) return kSuccess;
  command_line::print_stderr("skua identity import: {}: {}\n", source, failure);
  return kFailure;
}

}  // namespace

CommandSpecs identity_commands() {
  return {{"identity",
           "Print signing key, host and handle of an account",
           {kAccountName, kPlc, kDatabase, kCaFile, kDns, kAllowPrivateHosts, kRefresh, kJson},
           print_identity}};
}

CommandSpecs identity_import_commands() {
  return {{"identity import",
           "Import an export of the PLC directory",
           {required(kSource), kDatabase, kCaFile, kAfter},
           identity_import}};
}

}  // namespace skua::cli
