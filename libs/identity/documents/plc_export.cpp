#include "documents/plc_export.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "documents/errc.hpp"
#include "documents/export_page.hpp"
#include "transport/endpoint.hpp"

namespace skua::documents {

namespace {

using std::chrono::seconds;

constexpr std::uint64_t kProgressEvery = 100'000;
constexpr std::size_t kMaxPageBytes = 64 * 1024 * 1024;
constexpr int kMaxPageFailures = 8;
constexpr seconds kFirstWait{1};
constexpr seconds kLongestPageWait{60};

/// Adds the lines of a page to the import, and returns their number.
std::size_t add_page(std::string_view body, PlcImport& import) {
  std::size_t lines = 0;
  for_each_line(body, [&](std::string_view line) {
    import.add(line);
    ++lines;
  });
  return lines;
}

}  // namespace

PlcImport::PlcImport(postgres::Session& session, const Clock& clock, std::size_t batch)
    : session_(session), clock_(clock), batch_(batch) {}

void PlcImport::add(std::string_view line) {
  if (line.size() > kMaxExportLineBytes) {
    add_bad();
    return;
  }
  ++metrics_.lines;
  auto read = parse_export_line(line);
  if (!read) {
    ++metrics_.bad;
    return;
  }
  if (*read->row.operation_at <= clock_.now() + kExportClockSkew) {
    metrics_.newest = std::max(metrics_.newest, *read->row.operation_at);
  }
  if (read->nullified) {
    ++metrics_.nullified;
    return;
  }
  operations_.add(std::move(read->row));
  if (operations_.size() >= batch_) flush();
}

void PlcImport::add_bad() {
  ++metrics_.lines;
  ++metrics_.bad;
}

void PlcImport::finish() {
  flush();
  wait();
}

void PlcImport::wait() {
  if (writing_.valid()) metrics_.written += writing_.get();
}

void PlcImport::flush() {
  if (operations_.size() == 0) return;
  auto rows = operations_.take(clock_.now());
  wait();
  // Writes in a second thread, because PostgreSQL writes a batch in about the time in which the
  // next batch is read.
  writing_ = std::async(std::launch::async, [this, rows = std::move(rows)]() mutable {
    return import_identities(session_, std::move(rows));
  });
}

Result<void> import_lines(std::istream& in, PlcImport& import, const ImportProgress& progress) {
  std::vector<char> buffer(kMaxExportLineBytes + 1);
  auto next_progress = kProgressEvery;
  while (true) {
    in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto length = static_cast<std::size_t>(in.gcount());
    if (in.bad()) break;
    if (in.fail() && !in.eof()) {
      // The line is longer than any operation may be, so its rest is skipped.
      in.clear();
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      import.add_bad();
      continue;
    }
    const std::string_view line(buffer.data(), length - (in.eof() || length == 0 ? 0 : 1));
    if (!line.empty()) import.add(line);
    if (in.eof()) break;
    if (import.metrics().lines >= next_progress) {
      progress(import.metrics());
      next_progress = import.metrics().lines + kProgressEvery;
    }
  }
  import.finish();
  if (in.bad()) return errc::export_unreadable;
  return {};
}

Result<void> import_pages(transport::HttpClient& http, const ExportSource& source,
                          PlcImport& import, const ImportProgress& progress) {
  const auto endpoint = transport::parse_http_url(source.url);
  if (!endpoint) return endpoint.error();
  auto after = source.after;
  auto newest = source.after;
  int failures = 0;
  auto next_progress = kProgressEvery;
  while (true) {
    transport::HttpRequest request;
    request.url = export_url(*endpoint, after);
    request.origin = transport::HostOrigin::configured;
    request.max_body_bytes = kMaxPageBytes;
    const auto answer = http.send(std::move(request));
    if (!answer || answer->status != 200) {
      const bool limited = answer && answer->status == 429;
      const bool passing =
          answer ? limited || answer->status >= 500 : is_server_failure(answer.error());
      const ErrorCode error = !answer   ? answer.error()
                              : limited ? make_error_code(errc::rate_limited)
                                        : make_error_code(errc::server_failed);
      if (!passing || ++failures == kMaxPageFailures) {
        // The earlier pages are stored, and the next import continues after them.
        import.finish();
        return error;
      }
      const auto own = std::min(kLongestPageWait, kFirstWait * (1 << failures));
      const auto asked =
          answer ? transport::asked_wait(*answer, system_clock().now()) : std::optional<seconds>();
      source.wait(std::min(kLongestPageWait * 5, asked.value_or(own)), error);
      continue;
    }
    failures = 0;
    const std::size_t lines = add_page(answer->body, import);
    const auto reached = import.metrics().newest;
    if (lines > 0 && reached > newest) {
      // Begins the next page a little earlier, because several operations may have been made at one
      // instant and the page may have ended among them.
      newest = reached;
      after = reached - std::chrono::milliseconds(1);
    } else if (lines >= kExportPageLines && after < newest) {
      after = newest;  // the operations of this instant alone fill a page
    } else if (lines >= kExportPageLines) {
      import.finish();
      return errc::export_unreadable;  // another request would return the same page
    } else {
      break;
    }
    if (import.metrics().lines >= next_progress) {
      progress(import.metrics());
      next_progress = import.metrics().lines + kProgressEvery;
    }
  }
  import.finish();
  return {};
}

}  // namespace skua::documents
