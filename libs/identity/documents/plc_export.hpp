#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <istream>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "documents/errc.hpp"
#include "documents/export_page.hpp"
#include "postgres/session.hpp"
#include "transport/http_client.hpp"

namespace skua::documents {

/// Reads an answer of the network about an account by calling `work`. An unexpected exception makes
/// the answer unusable (errc::unforeseen), but must not end the thread that reads all answers.
/// Errors of the machine (is_of_machine) are rethrown. `Outcome` must be constructible from an
/// errc.
template <class Outcome, class Work>
Outcome read_input(std::string_view did, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception& error) {
    if (is_of_machine(error)) throw;
    logger("identity")
        ->error("did={}: an answer about it cannot be processed: {}", did, error.what());
    return Outcome{errc::unforeseen};
  }
}

/// Returns a text member of an object, as a view into `value`. Returns an empty text if `value` is
/// not an object, or if the member is missing or not a text.
inline std::string_view text_field(const nlohmann::json& value, const char* name) {
  if (!value.is_object()) return {};
  const auto member = value.find(name);
  if (member == value.end() || !member->is_string()) return {};
  return member->get_ref<const std::string&>();
}

/// Imports an export into `skua.identities`. Each batch is a transaction. The newest operation of
/// each DID counts, whatever the order of the lines. Idempotent, also after an interruption. Two
/// batches are in memory, with about 600 bytes a DID: the object collects one batch while another
/// thread writes the previous one. One thread. No other code may use the session until `finish` has
/// returned.
class PlcImport {
 public:
  struct Counters {
    std::uint64_t lines = 0;
    /// The number of rows written. A DID counts once in each batch.
    std::uint64_t written = 0;
    std::uint64_t nullified = 0;
    /// The number of lines that could not be used.
    std::uint64_t bad = 0;
    /// The time of the newest operation so far, without operations ahead of the clock.
    Timestamp newest;
  };

  /// Both references must outlive the object. `batch` is a number of DIDs, at least 1. In a larger
  /// batch more DIDs are adjacent in the table's index.
  explicit PlcImport(postgres::Session& session, const Clock& clock = system_clock(),
                     std::size_t batch = 40'000);

  /// Adds a line without its end. A line over 64 KiB is bad. Throws SqlError, also for a failed
  /// write of earlier lines; the object cannot be used after this.
  void add(std::string_view line);
  /// Counts a line that was too long to be read.
  void add_bad();
  /// Writes the remaining rows and waits for the end of the write. Throws SqlError, as `add` does.
  void finish();

  /// Returns the counters. Rows that are being written are not counted yet.
  const Counters& metrics() const { return metrics_; }

 private:
  /// Begins to write the batch when the previous batch is written.
  void flush();
  void wait();

  postgres::Session& session_;
  const Clock& clock_;
  const std::size_t batch_;
  NewestOperations operations_;
  Counters metrics_;
  /// The batch that is being written. The destructor of the future waits for the end of the write.
  std::future<std::size_t> writing_;
};

/// Called from time to time while an import runs.
using ImportProgress = std::function<void(const PlcImport::Counters&)>;

/// Imports the lines of a stream to its end. Error: export_unreadable, if the end is not reached;
/// the earlier lines stay. Throws SqlError.
Result<void> import_lines(std::istream& in, PlcImport& import, const ImportProgress& progress);

/// The source of an export over HTTP.
struct ExportSource {
  /// The URL of the directory, or of its /export.
  std::string url;
  /// Only operations made after this time are imported. The epoch means all operations.
  Timestamp after;
  /// Waits before a request is repeated. `failure` is the reason.
  std::function<void(std::chrono::seconds, const ErrorCode& failure)> wait;
};

/// Imports a directory's export page by page until there are no new lines. If a server fails or
/// asks us to wait, retries up to eight times in a row. Errors: the last failure, or
/// export_unreadable if the directory repeats a page for ever. Imported lines stay. Throws
/// SqlError.
Result<void> import_pages(transport::HttpClient& http, const ExportSource& source,
                          PlcImport& import, const ImportProgress& progress);

}  // namespace skua::documents
