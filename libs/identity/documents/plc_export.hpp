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
/// the answer unusable (errc::unforeseen) and must not end the thread that reads all answers.
/// Errors of the machine (is_of_machine) pass on. `Outcome` can be made from an errc.
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

/// A text member of an object; empty when `value` is not an object, or the member is missing or
/// not a text. The result refers to `value`.
inline std::string_view text_field(const nlohmann::json& value, const char* name) {
  if (!value.is_object()) return {};
  const auto member = value.find(name);
  if (member == value.end() || !member->is_string()) return {};
  return member->get_ref<const std::string&>();
}

/// Imports an export into `skua.identities`. Each batch is a transaction. The newest operation of
/// each DID stays, in any order of the lines. Idempotent, also after an interruption. Has two
/// batches in memory, about 600 bytes a DID: it collects one while another thread writes the
/// previous one. One thread; no other code uses the session until `finish` has returned.
class PlcImport {
 public:
  struct Counters {
    std::uint64_t lines = 0;
    /// Rows written; a DID counts once a batch.
    std::uint64_t written = 0;
    std::uint64_t nullified = 0;
    /// Lines that could not be used.
    std::uint64_t bad = 0;
    /// The time of the newest operation so far, without those ahead of the clock.
    Timestamp newest;
  };

  /// Both must outlive it. `batch` is a number of DIDs, from 1: the larger, the more of them lie
  /// side by side in the table's index.
  explicit PlcImport(postgres::Session& session, const Clock& clock = system_clock(),
                     std::size_t batch = 40'000);

  /// Takes a line without its end; a line over 64 KiB is bad. Throws SqlError, also because of
  /// earlier lines; the object cannot be used then.
  void add(std::string_view line);
  /// Counts a line that was too long to be read.
  void add_bad();
  /// Writes the remaining rows, and waits. Throws SqlError, as `add` does.
  void finish();

  /// Rows that are being written do not count as written yet.
  const Counters& metrics() const { return metrics_; }

 private:
  /// Has the batch written as soon as the one before is.
  void flush();
  void wait();

  postgres::Session& session_;
  const Clock& clock_;
  const std::size_t batch_;
  NewestOperations operations_;
  Counters metrics_;
  /// The batch that is being written; its end waits for it.
  std::future<std::size_t> writing_;
};

/// Called now and then while an import runs.
using ImportProgress = std::function<void(const PlcImport::Counters&)>;

/// Imports the lines of a stream to its end. Error: export_unreadable, if the end is not reached;
/// earlier lines stay. Throws SqlError.
Result<void> import_lines(std::istream& in, PlcImport& import, const ImportProgress& progress);

/// Where an export is read over HTTP, and how.
struct ExportSource {
  /// Of the directory, or of its /export.
  std::string url;
  /// Operations made after this; the epoch: all.
  Timestamp after;
  /// How to wait before a request is made again, and why that is.
  std::function<void(std::chrono::seconds, const ErrorCode& failure)> wait;
};

/// Imports a directory's export page by page until there are no new lines. If a server fails or
/// asks to wait, it retries up to eight times in a row. Error: the last one, or export_unreadable
/// if the directory repeats a page for ever; imported lines stay. Throws SqlError.
Result<void> import_pages(transport::HttpClient& http, const ExportSource& source,
                          PlcImport& import, const ImportProgress& progress);

}  // namespace skua::documents
