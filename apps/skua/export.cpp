#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/display_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "export_progress.hpp"
#include "export_source.hpp"
#include "exports/export_file.hpp"
#include "exports/key_ranges.hpp"
#include "exports/row_form.hpp"
#include "exports/source.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "query_note.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

enum class ExportFormat : std::uint8_t { Csv, Jsonl, Parquet };

constexpr std::int64_t kMillion = 1'000'000;

/// Reads a percentage as millionths.
std::int64_t read_sample(const SettingValue& given) {
  double percent = 0;
  const char* const end = given.value.data() + given.value.size();
  const auto [rest, error] = std::from_chars(given.value.data(), end, percent);
  const double millionths = std::round(percent * 1e4);
  if (error != std::errc() || std::string_view(rest, static_cast<std::size_t>(end - rest)) != "%" ||
      !(millionths >= 1) || !(percent <= 100)) {
    throw UsageError(fmt::format("{}: '{}' is not a part from 0.0001% to 100%, such as 1%",
                                 given.origin, given.value));
  }
  return static_cast<std::int64_t>(millionths);
}

/// Reads a time, a date, or a duration before now, as RFC 3339.
std::string read_since(const SettingValue& given) {
  const std::string& text = given.value;
  constexpr std::size_t kDate = std::string_view("2026-07-04").size();
  if (const auto time = parse_datetime(text.size() == kDate ? text + "T00:00:00Z" : text)) {
    return format_datetime(time->instant);
  }
  try {
    return format_datetime(system_clock().now() - duration(given, std::chrono::seconds(1),
                                                           std::chrono::hours(24 * 36500)));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}, and not a time such as 2026-07-04T14:00:00Z", error.what()));
  }
}

const Option<Texts> kExportName(
    {.name = "NAME",
     .meaning = "A table or view of the schema bsky, or a question of `skua query` and its "
                "arguments; without a name the tables and views are listed",
     .known_values = exportable_names});
const Option<ExportFormat> kExportFormat(
    {.name = "--format",
     .type = "csv|jsonl|parquet",
     .meaning = "The form of the file; for Parquet the command "
                "prints the steps with DuckDB",
     .default_value = "csv"},
    one_of<ExportFormat>({{"csv", ExportFormat::Csv},
                          {"jsonl", ExportFormat::Jsonl},
                          {"parquet", ExportFormat::Parquet}}));
const Option<OptionalText> kExportOutput(
    {.name = "-o,--output",
     .type = "FILE",
     .meaning = "The file; it gets its name when it is complete",
     .default_text = "stdout"});
const Option<bool> kExportResume({.name = "--resume",
                                  .meaning = "Continue an export to --output that did not finish"});
const Option<bool> kExportReplace(
    {.name = "--replace", .meaning = "Replace the file, and forget an unfinished export to it"});
const Option<Texts> kExportColumns({.name = "--columns",
                                    .type = "NAME,...",
                                    .meaning = "Only these columns, in this order"});
const Option<std::optional<std::string>> kExportSince(
    {.name = "--since",
     .type = "DURATION|TIME",
     .meaning =
         "Only rows from this time on: sort_at, or the earlier of created_at and indexed_at"},
    read_since);
const Option<std::optional<std::int64_t>> kExportSample(
    {.name = "--sample",
     .type = "PERCENT",
     .meaning =
         "Only the rows of a part of the keys, such as 1%; of all exports the same accounts"},
    read_sample);
const Option<OptionalText> kExportSql({.name = "--sql",
                                       .type = "STATEMENT",
                                       .meaning = "Export the rows of a SELECT statement"});
const Option<OptionalText> kExportKey(
    {.name = "--key",
     .type = "COLUMN",
     .meaning = "With --sql or a question: a column of whole numbers by whose ranges the rows are "
                "read, so that the export can be continued"});
const Option<std::uint64_t> kExportRange(
    {.name = "--range",
     .type = "NUMBER",
     .meaning = "About so many rows are read by one statement, and then written to the disk",
     .default_value = "100000"},
    number_in<std::uint64_t>(1, 1'000'000'000));
const Option<bool> kExportSnapshot(
    {.name = "--one-snapshot",
     .meaning =
         "Read all rows in one snapshot of the database; such an export cannot be continued"});

/// The user has requested a stop.
class ExportStopped : public std::exception {};

Texts column_names(const Invocation& invocation) {
  Texts names;
  for (const std::string& text : invocation[kExportColumns]) {
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      names.emplace_back(trimmed(rest.substr(0, comma)));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return names;
}

/// Returns the words of the command line without format and files, for copying into a shell.
std::string words_to_copy(const Invocation& invocation) {
  std::string words = "export";
  for (const std::string& word : invocation[kExportName]) words += " " + shell_word(word);
  if (!invocation[kExportColumns].empty()) {
    words += fmt::format(" --columns {}", fmt::join(column_names(invocation), ","));
  }
  for (const OptionText* const option : std::initializer_list<const OptionText*>{
           &kExportSql, &kExportKey, &kExportSince, &kExportSample}) {
    if (const auto given = invocation.find(*option)) {
      words += fmt::format(" {} {}", option->name, shell_word(given->value));
    }
  }
  return words;
}

NamedSource read_source(postgres::Session& session, const Invocation& invocation) {
  const auto sql = invocation[kExportSql];
  const auto words = invocation[kExportName];
  if (sql && !words.empty()) throw UsageError("give a name or --sql, not both");
  NamedSource named = sql ? read_statement(session, *sql) : read_named_source(session, words);
  const auto key = invocation[kExportKey];
  if (key && !exports::set_key(named.source, *key)) {
    throw UsageError(
        fmt::format("--key: {} has no column '{}' of whole numbers", named.name, *key));
  }
  return named;
}

/// One export: its rows and their form.
struct Export {
  NamedSource named;
  std::vector<exports::Column> columns;
  exports::Format format;
  exports::Selection selection;
  std::uint64_t rows_a_range = 0;
  bool is_one_snapshot = false;
};

exports::Selection read_selection(const NamedSource& named, const Invocation& invocation) {
  exports::Selection selection{.since = invocation[kExportSince],
                               .millionths = invocation[kExportSample]};
  if (selection.since && !exports::time_of(named.source)) {
    throw UsageError(fmt::format(
        "--since: {} has none of the columns sort_at, created_at and indexed_at", named.name));
  }
  if (selection.millionths && !named.source.key) {
    throw UsageError(
        fmt::format("--sample: {} has no key of whole numbers. Another view may have one; --key "
                    "names the one of "
                    "a statement",
                    named.name));
  }
  return selection;
}

/// Returns the text that differs for exports of other rows or another form (exports::Checkpoint).
std::string request_of(const Export& work, const Invocation& invocation, const std::string& token) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const exports::Column& column : work.columns) {
    columns.push_back(column.name + " " + column.type);
  }
  return nlohmann::ordered_json{{"database", token},
                                {"from", work.named.source.from},
                                {"key", work.named.source.key.value_or("")},
                                {"format", invocation.text_of(kExportFormat)},
                                {"since", invocation.text_of(kExportSince)},
                                {"sample", work.selection.millionths.value_or(kMillion)},
                                {"columns", columns}}
      .dump();
}

/// Reads the rows of an export, and passes them as lines. Prints the notes about missing rows.
class ExportReader {
 public:
  using Take = std::function<void(std::string_view)>;

  ExportReader(postgres::Session& session, const Export& work, const Invocation& invocation)
      : session_(session), work_(work), invocation_(invocation) {
    // The session uses all plans of reports, while a session of the indexer only uses indexes.
    session.run(
        "RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin; SET "
        "default_transaction_read_only = on");
    if (invocation[kExportSql]) {
      print_notes(
          slow_conditions(session, exports::select_of(work.named.source, work.columns, work.format,
                                                      work.selection, std::nullopt)));
    }
    if (work.is_one_snapshot) session.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  }

  /// Reads the rows of a range of keys, or all rows. Returns their number.
  std::uint64_t read(const std::optional<exports::KeyBounds>& range, const Take& take) {
    std::optional<postgres::Transaction> transaction;
    if (!work_.is_one_snapshot) transaction.emplace(session_);
    const std::uint64_t rows = session_.copy_out(
        exports::select_of(work_.named.source, work_.columns, work_.format, work_.selection, range),
        std::string(exports::copy_options(work_.format)), take);
    if (!has_notes_) {
      static const NamedQuery kNone;
      print_notes(missing_records(
          session_, work_.named.query != nullptr ? *work_.named.query : kNone, invocation_));
      has_notes_ = true;
    }
    if (transaction) transaction->commit();
    return rows;
  }

 private:
  postgres::Session& session_;
  const Export& work_;
  const Invocation& invocation_;
  bool has_notes_ = false;
};

/// Writes an export to stdout or to a file.
class ExportWriter {
 public:
  ExportWriter(postgres::Session& session, const Export& work, const Invocation& invocation,
               StopSignal& stop_signal)
      : session_(session),
        work_(work),
        stop_signal_(stop_signal),
        reader_(session, work, invocation) {}

  void to_stdout() {
    begin_progress({});
    write_ = [this](std::string_view text) {
      if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw ExportStopped();
      state_.bytes += text.size();
    };
    write_(exports::head_line(work_.columns, work_.format));
    if (const auto bounds = key_bounds()) {
      exports::KeyRanges ranges(*bounds, work_.rows_a_range);
      while (const auto range = ranges.next()) ranges.complete(read(range, bounds));
    } else if (!work_.named.source.key) {
      read(std::nullopt, std::nullopt);
    }
    progress_->finish(state_);
  }

  /// The bounds of the keys of an export that continues are those of its beginning.
  void to_file(exports::ExportFile& file, const std::string& request) {
    exports::Checkpoint checkpoint{.request = request, .since = work_.selection.since};
    std::optional<exports::KeyBounds> bounds;
    if (const auto& continued = file.continued()) {
      checkpoint = *continued;
      bounds = {checkpoint.first_key, checkpoint.last_key};
      if (work_.named.source.key) bounds->drawn = exports::read_drawn(session_, work_.named.source);
    } else {
      bounds = key_bounds();
      if (bounds) {
        checkpoint.first_key = checkpoint.next_key = bounds->first;
        checkpoint.last_key = bounds->last;
      }
    }
    write_ = [this, &file](std::string_view text) {
      file.write(text);
      state_.bytes = file.size();
    };
    begin_progress({.rows = checkpoint.rows, .bytes = file.size()});
    if (!file.continued()) write_(exports::head_line(work_.columns, work_.format));
    if (bounds) {
      read_ranges(file, checkpoint, *bounds);
    } else if (!work_.named.source.key) {
      read(std::nullopt, std::nullopt);
    }
    file.finish();
    progress_->finish(state_);
  }

 private:
  std::optional<exports::KeyBounds> key_bounds() {
    if (!work_.named.source.key) return std::nullopt;
    return exports::read_bounds(session_, work_.named.source);
  }

  void begin_progress(ExportProgress::State state) {
    state_ = state;
    progress_.emplace(monotonic_clock(), state_, true);
  }

  void read_ranges(exports::ExportFile& file, exports::Checkpoint& checkpoint,
                   exports::KeyBounds bounds) {
    const bool is_saved = !work_.is_one_snapshot;
    if (is_saved) file.save(checkpoint);
    exports::KeyRanges ranges({checkpoint.next_key, bounds.last, bounds.drawn}, work_.rows_a_range);
    while (const auto range = ranges.next()) {
      const std::uint64_t rows = read(range, bounds);
      ranges.complete(rows);
      checkpoint.rows += rows;
      const auto next = ranges.next();
      // The last range needs no checkpoint: the file is complete.
      if (!next) break;
      checkpoint.next_key = next->first;
      if (is_saved) file.save(checkpoint);
    }
  }

  std::uint64_t read(const std::optional<exports::KeyBounds>& range,
                     const std::optional<exports::KeyBounds>& bounds) {
    if (bounds) state_.part = exports::part_before(*bounds, range->first);
    return reader_.read(range, [this](std::string_view line) {
      write_(line);
      ++state_.rows;
      constexpr std::uint64_t kLook = 1000;
      if (state_.rows % kLook != 0) return;
      progress_->show(state_);
      if (stop_signal_.wait_for(std::chrono::milliseconds(0))) throw ExportStopped();
    });
  }

  postgres::Session& session_;
  const Export& work_;
  StopSignal& stop_signal_;
  ExportReader reader_;
  std::function<void(std::string_view)> write_;
  ExportProgress::State state_;
  std::optional<ExportProgress> progress_;
};

int list_relations(const Invocation& invocation) {
  postgres::Session session = open_database_to_read(invocation, "skua export");
  command_line::Table table({{}, {}});
  for (const exports::Relation& relation : exports::read_relations(session)) {
    table.add({relation.name, relation.meaning.substr(0, relation.meaning.find(". "))});
  }
  fmt::print("{}", table.text());
  return kSuccess;
}

/// Prints the steps that make a Parquet file.
int refuse_parquet(const NamedSource& named, const std::vector<exports::Column>& columns,
                   const Invocation& invocation) {
  const std::filesystem::path parquet = invocation[kExportOutput].value_or(named.name + ".parquet");
  std::filesystem::path jsonl = parquet;
  jsonl.replace_extension(".jsonl");
  command_line::print_stderr(
      "skua export: DuckDB writes Parquet. After `pip install duckdb`, these lines make the file:\n"
      "{} --format jsonl --output {}\npython3 - <<'END'\nimport duckdb\nduckdb.sql(r\"\"\"\n{}\n"
      "\"\"\")\nEND\n",
      invocation.command_to_copy(words_to_copy(invocation)), shell_word(jsonl.string()),
      exports::parquet_statement(columns, jsonl.string(), parquet.string()));
  return kUsage;
}

/// Checks that the options agree. Does not read the database.
void check_options(const Invocation& invocation) {
  const bool is_resumed = invocation[kExportResume];
  if (!invocation.has(kExportOutput) && (is_resumed || invocation[kExportReplace])) {
    throw UsageError(fmt::format("{} needs --output FILE", is_resumed ? "--resume" : "--replace"));
  }
}

exports::ExportFile::Start start_of(const Invocation& invocation) {
  if (invocation[kExportResume]) return exports::ExportFile::Start::Resume;
  return invocation[kExportReplace] ? exports::ExportFile::Start::Replace
                                    : exports::ExportFile::Start::New;
}

/// Exports to a file. An export that continues takes its time of --since from the checkpoint.
void export_to_file(postgres::Session& session, Export& work, const Invocation& invocation,
                    StopSignal& stop_signal) {
  const std::string path = *invocation[kExportOutput];
  const std::string request = request_of(work, invocation, exports::read_token(session));
  exports::ExportFile file(path, start_of(invocation));
  if (file.is_complete()) {
    print_progress(fmt::format("{} is complete", path), stderr);
    return;
  }
  if (const auto& continued = file.continued()) {
    if (continued->request != request) {
      throw exports::FileError(fmt::format(
          "{}.checkpoint is of another export: of other rows, columns or options, or of another "
          "database. Give the same options as at its beginning, or begin again with --replace",
          path));
    }
    work.selection.since = continued->since;
  }
  ExportWriter(session, work, invocation, stop_signal).to_file(file, request);
}

int run_export(const Invocation& invocation) {
  if (invocation[kExportName].empty() && !invocation.has(kExportSql)) {
    return list_relations(invocation);
  }
  check_options(invocation);
  const ExportFormat format = invocation[kExportFormat];
  StopSignal stop_signal;
  postgres::Session session = open_database_to_read(invocation, "skua export");
  Export work{.named = read_source(session, invocation),
              .columns = {},
              .format = format == ExportFormat::Csv ? exports::Format::Csv : exports::Format::Jsonl,
              .selection = {}};
  work.columns = chosen_columns(work.named, column_names(invocation));
  if (format == ExportFormat::Parquet) return refuse_parquet(work.named, work.columns, invocation);
  work.selection = read_selection(work.named, invocation);
  work.rows_a_range = invocation[kExportRange];
  work.is_one_snapshot = invocation[kExportSnapshot];
  const bool is_query_database = postgres::is_query_database(session);
  print_notes(missing_work(session, is_query_database, invocation));
  if (const NamedQuery* const query = work.named.query) {
    print_notes(missing_needs(session, is_query_database, *query, work.named.values, invocation));
    print_notes(missing_subjects(session, *query, work.named.values, invocation));
  }
  try {
    if (invocation.has(kExportOutput)) {
      export_to_file(session, work, invocation, stop_signal);
    } else {
      ExportWriter(session, work, invocation, stop_signal).to_stdout();
    }
  } catch (const ExportStopped&) {
    const bool can_resume =
        invocation.has(kExportOutput) && work.named.source.key && !work.is_one_snapshot;
    if (!command_line::output_failed()) {
      print_error(can_resume ? "the export was stopped: the same command with --resume continues it"
                             : "the export was stopped, and is not complete");
    }
    return kFailure;
  }
  return kSuccess;
}

}  // namespace

CommandSpecs export_commands() {
  return {{"export",
           "Export a table, a view or an answer as CSV or JSON lines",
           {kDatabase, kExportName, kExportFormat, kExportOutput, kExportColumns, kExportSince,
            kExportSample, kExportSql, kExportKey, kExportRange, kExportResume, kExportReplace,
            kExportSnapshot},
           run_export,
           {&kExportResume, &kExportReplace}}};
}

}  // namespace skua::cli
