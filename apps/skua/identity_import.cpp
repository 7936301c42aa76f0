#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "app/database.hpp"
#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "identity/plc_export.hpp"
#include "option.hpp"
#include "progress.hpp"
#include "settings.hpp"
#include "store/plc_cursor.hpp"
#include "store/process_name.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"

namespace skua::cli {
namespace {

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

void show_progress(const identity::PlcImport::Counters& metrics) {
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
  identity::ExportSource source;
};

/// Throws UsageError if the URL, the time or the CA file is malformed.
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

/// Nothing on success; otherwise the error.
std::string import_from_url(const Download& download, identity::PlcImport& import) {
  transport::HttpClient http(download.http);
  const auto done = identity::import_pages(http, download.source, import, show_progress);
  return done ? std::string() : done.error().message();
}

/// `skua run --plc-tail` continues behind the import. `after`: of a part of the export.
void set_cursor(store::Session& session, const identity::PlcImport::Counters& metrics,
                const std::optional<Download>& download) {
  if (metrics.newest == Timestamp{}) return;
  std::optional<Timestamp> since;
  if (download && download->source.after != Timestamp{}) since = download->source.after;
  store::add_to_plc_cursor(session, since, std::min(metrics.newest, store::server_time(session)));
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
  store::Session session = open_database(invocation, "skua identity import");
  identity::PlcImport import(session);
  std::string failure;
  const auto import_stream = [&](std::istream& in) {
    const auto done = identity::import_lines(in, import, show_progress);
    if (!done) failure = done.error().message();
  };
  if (download) {
    failure = import_from_url(*download, import);
  } else if (source == "-") {
    // If it were synchronized with C's stdin, it would be read one character at a time.
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

CommandSpecs identity_import_commands() {
  return {{"identity import",
           "Import an export of the PLC directory",
           {required(kSource), kDatabase, kCaFile, kAfter},
           identity_import}};
}

}  // namespace skua::cli
