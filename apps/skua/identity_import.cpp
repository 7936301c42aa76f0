#include <chrono>
#include <fstream>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "app/database.hpp"
#include "commands.hpp"
#include "identity/plc_export.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"
#include "transport/http_client.hpp"

namespace skua::cli {
namespace {

void show_progress(const identity::PlcImport::Figures& figures) {
  fmt::print(stderr, "{} lines, up to {}\n", figures.lines, format_datetime(figures.newest));
}

bool is_url(const std::string& source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

/// Nothing when all went well; else what went wrong.
std::string import_from_url(const Settings& settings, const IdentityImportFlags& flags,
                            identity::PlcImport& import) {
  transport::HttpClientOptions options;
  options.total_timeout = std::chrono::minutes(2);
  if (const auto file = settings.find(kCaFile, flags.ca_file)) options.ca_file = file->value;
  identity::ExportSource source;
  source.url = flags.source;
  source.wait = [](std::chrono::seconds time) { std::this_thread::sleep_for(time); };
  if (flags.after) {
    const auto after = parse_datetime(*flags.after);
    if (!after) throw UsageError("--after: " + after.error().message());
    source.after = after->instant;
  }
  transport::HttpClient http(options);
  const auto done = identity::import_pages(http, source, import, show_progress);
  return done ? std::string() : done.error().message();
}

}  // namespace

int identity_import(const Settings& settings, const IdentityImportFlags& flags) {
  if (flags.after && !is_url(flags.source)) throw UsageError("--after is for a URL alone");
  const auto database = settings.require(kDatabase, flags.database, "postgresql://...").value;
  app::check_database(database);
  store::Session session(database, store::process_name("skua identity import"));
  identity::PlcImport import(session);
  std::string failure;
  const auto import_stream = [&](std::istream& in) {
    const auto done = identity::import_lines(in, import, show_progress);
    if (!done) failure = done.error().message();
  };
  if (is_url(flags.source)) {
    failure = import_from_url(settings, flags, import);
  } else if (flags.source == "-") {
    // Shared with C's stdin it would be read a character at a time.
    std::ios::sync_with_stdio(false);
    import_stream(std::cin);
  } else {
    std::ifstream in(flags.source);
    if (!in) {
      failure = "cannot be read";
    } else {
      import_stream(in);
    }
  }
  const auto& figures = import.figures();
  fmt::print("{} lines, {} identities written, {} nullified, {} bad", figures.lines,
             figures.written, figures.nullified, figures.bad);
  if (figures.newest != Timestamp{}) {
    fmt::print(", up to {}", format_datetime(figures.newest));
  }
  fmt::print("\n");
  if (failure.empty()) return kSuccess;
  fmt::print(stderr, "skua identity import: {}: {}\n", flags.source, failure);
  return kFailure;
}

}  // namespace skua::cli
