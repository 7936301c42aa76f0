#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "lexicon/schema_builder.hpp"
#include "lexicon_store/added_checks.hpp"
#include "lexicon_store/lexicon_table.hpp"
#include "option.hpp"
#include "postgres/server_clock.hpp"
#include "postgres/session.hpp"
#include "recheck/recheck.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"

namespace skua::cli {
namespace {

using lexicon_store::Column;
using lexicon_store::Document;
using lexicon_store::LexiconChange;
using lexicon_store::PropertyIndexes;
using lexicon_store::StoredLexicon;

const Option<Texts> kDocuments({.name = "FILE",
                                .meaning = "A lexicon document as JSON, at most 1 MB"});
const Option<Texts> kIndexed(
    {.name = "--index",
     .type = "FIELD",
     .meaning = "A property of the record: build an index of it while the indexer writes"});
const Option<std::string> kNsid({.name = "NSID",
                                 .meaning = "The id of a document, such as com.example.note"});

/// Reads a document. It reads one byte more than the limit, so that a longer file is detected and
/// refused.
std::string file_text(const std::string& file) {
  require_file("FILE", file);
  std::ifstream in(file, std::ios::binary);
  std::string text(lexicon_store::kMaxDocument + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw UsageError(file + ": cannot be read");
  return text;
}

Document document_of(const std::string& file) {
  try {
    Document document = lexicon_store::read_document(file_text(file));
    if (lexicon_store::is_built_in(document.nsid)) {
      throw UsageError(fmt::format("{}: {} is a built-in lexicon, which cannot be replaced", file,
                                   document.nsid));
    }
    return document;
  } catch (const lexicon::LexiconError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
}

/// Returns the only document that defines a record with these properties.
const Document& indexed_document(const std::vector<Document>& documents,
                                 const std::vector<std::string>& properties) {
  using Pointer = nlohmann::json::json_pointer;
  const Document* found = nullptr;
  for (const Document& document : documents) {
    if (!nlohmann::json::parse(document.json).contains(Pointer("/defs/main/record"))) continue;
    if (found != nullptr) throw UsageError("--index: more than one document defines a record");
    found = &document;
  }
  if (found == nullptr) throw UsageError("--index: no document defines a record");
  const auto json = nlohmann::json::parse(found->json);
  for (const std::string& property : properties) {
    if (!json.contains(Pointer("/defs/main/record/properties") / property)) {
      throw UsageError(fmt::format("--index: {} has no property '{}'", found->nsid, property));
    }
  }
  return *found;
}

/// Drops the indexes of changed properties.
void drop_old_indexes(postgres::Session& session, const std::vector<LexiconChange>& changes) {
  for (const LexiconChange& change : changes) {
    const std::string& nsid = change.lexicon.document.nsid;
    if (!change.is_changed || change.lexicon.view_name.empty()) continue;
    if (const auto dropped = PropertyIndexes(session, nsid).keep_only(change.lexicon.columns)) {
      fmt::print("{}: {} of changed properties removed\n", nsid, counted(dropped, "index"));
    }
  }
}

void build_indexes(postgres::Session& session, const StoredLexicon& lexicon,
                   const std::vector<std::string>& properties) {
  PropertyIndexes indexes(session, lexicon.document.nsid);
  for (const Column& column : lexicon.columns) {
    if (std::find(properties.begin(), properties.end(), column.key) == properties.end()) continue;
    fmt::print("index of {}: {}\n", column.name, indexes.add(column) ? "built" : "exists");
  }
}

std::string change_text(const LexiconChange& change) {
  const StoredLexicon& lexicon = change.lexicon;
  if (!change.is_changed) return "nothing changed";
  if (lexicon.view_name.empty()) return "stored; it defines no record";
  return fmt::format("{}, the view lexicon.{} has {}", change.is_given ? "stored" : "not given",
                     lexicon.view_name, counted(lexicon.columns.size(), "property"));
}

int lexicon_add(const Invocation& invocation) {
  const std::vector<std::string> properties = invocation[kIndexed];
  std::vector<Document> documents;
  for (const std::string& file : invocation[kDocuments]) documents.push_back(document_of(file));
  const std::string indexed =
      properties.empty() ? "" : indexed_document(documents, properties).nsid;
  postgres::Session session = open_database(invocation, "skua lexicon");
  std::vector<LexiconChange> changes;
  try {
    changes = lexicon_store::add_lexicons(session, documents);
  } catch (const lexicon::LexiconError& error) {
    throw UsageError(error.what());
  }
  for (const LexiconChange& change : changes) {
    fmt::print("{}: {}\n", change.lexicon.document.nsid, change_text(change));
  }
  // A concurrent build waits for running transactions, so the time of lock waits is not limited.
  session.limit_lock_waits(std::chrono::milliseconds(0));
  drop_old_indexes(session, changes);
  for (const LexiconChange& change : changes) {
    if (change.lexicon.document.nsid == indexed) {
      build_indexes(session, change.lexicon, properties);
    }
  }
  return kSuccess;
}

int lexicon_list(const Invocation& invocation) {
  postgres::Session session = open_database_to_read(invocation, "skua lexicon");
  const auto lexicons = lexicon_store::read_lexicons(session);
  if (lexicons.empty()) {
    fmt::print("no lexicons were added\n");
    return kSuccess;
  }
  for (const StoredLexicon& lexicon : lexicons) {
    if (lexicon.view_name.empty()) {
      fmt::print("{}: no record\n", lexicon.document.nsid);
      continue;
    }
    const std::size_t indexes = PropertyIndexes(session, lexicon.document.nsid).names().size();
    fmt::print("{}: lexicon.{}, {}\n", lexicon.document.nsid, lexicon.view_name,
               counted(indexes, "index"));
  }
  return kSuccess;
}

int lexicon_show(const Invocation& invocation) {
  const std::string nsid = invocation[kNsid];
  postgres::Session session = open_database_to_read(invocation, "skua lexicon");
  for (const StoredLexicon& lexicon : lexicon_store::read_lexicons(session)) {
    if (lexicon.document.nsid != nsid) continue;
    fmt::print("{}\n", nlohmann::json::parse(lexicon.document.json).dump(2));
    return kSuccess;
  }
  throw UsageError(
      fmt::format("the lexicon '{}' was not added; `skua lexicon list` lists them", nsid));
}

int lexicon_remove(const Invocation& invocation) {
  const std::string nsid = invocation[kNsid];
  postgres::Session session = open_database(invocation, "skua lexicon");
  std::optional<StoredLexicon> removed;
  try {
    removed = lexicon_store::remove_lexicon(session, nsid);
  } catch (const lexicon::LexiconError& error) {
    throw UsageError(fmt::format("another lexicon needs {}: {}", nsid, error.what()));
  }
  session.limit_lock_waits(std::chrono::milliseconds(0));
  if (!removed) {
    fmt::print("{}: was not added\n", nsid);
    return kSuccess;
  }
  std::size_t dropped = 0;
  if (!removed->view_name.empty()) dropped = PropertyIndexes(session, nsid).keep_only({});
  fmt::print("{}: removed, with {}\n", nsid, counted(dropped, "index"));
  return kSuccess;
}

/// Returns the present lexicons as soon as all processes apply them. Returns false if the command
/// was stopped.
bool wait_for_lexicons(StopSignal& stop, postgres::Session& session, recheck::Lexicons& lexicons) {
  for (;;) {
    lexicons = recheck::present_lexicons(session);
    if (lexicons.is_settled) return true;
    if (stop.wait_for(std::chrono::milliseconds(200))) return false;
  }
}

/// Returns false if the command was stopped.
bool check_table(StopSignal& stop, const recheck::RecheckServices& services,
                 const writer::TableWriter& table, const recheck::Lexicons& lexicons) {
  const auto checked = services.metrics.checked.value();
  const auto changed = services.metrics.changed.value();
  while (!recheck::recheck_step(services, table, lexicons).is_end) {
    if (stop.wait_for(std::chrono::milliseconds(0))) return false;
  }
  fmt::print("{}: {} checked, {} changed\n", table.name(),
             counted(services.metrics.checked.value() - checked, "row"),
             services.metrics.changed.value() - changed);
  return true;
}

int lexicon_check(const Invocation& invocation) {
  StopSignal stop;
  postgres::Session session = open_database(invocation, "skua lexicon");
  if (!can_use_indexes(session, "lexicon check")) return kFailure;
  postgres::ServerClock clock(system_clock());
  clock.compare(session);
  const auto ids = std::make_unique<ids::SharedIds>();
  recheck::RecheckMetrics metrics;
  const recheck::RecheckServices services{session, *ids, clock, metrics};
  recheck::Lexicons lexicons;
  bool is_complete = wait_for_lexicons(stop, session, lexicons);
  if (!lexicons.added->fault.empty()) {
    command_line::print_stderr("skua lexicon check: the added lexicons cannot be used: {}\n",
                               lexicons.added->fault);
    return kFailure;
  }
  const auto tables = recheck::due_tables(session, lexicons);
  for (const writer::TableWriter* table : tables) {
    is_complete = is_complete && check_table(stop, services, *table, lexicons);
  }
  if (!is_complete) {
    command_line::print_stderr("stopped; `skua lexicon check` continues\n");
    return kFailure;
  }
  if (tables.empty()) fmt::print("all records were checked against the present lexicons\n");
  return kSuccess;
}

}  // namespace

CommandSpecs lexicon_commands() {
  return {{"lexicon", "Add lexicons with views of their records"},
          {"lexicon add",
           "Store lexicon documents and create views of their records",
           {kDatabase, required(kDocuments), kIndexed},
           lexicon_add},
          {"lexicon list",
           "List the lexicons that were added, their views and indexes",
           {kDatabase},
           lexicon_list},
          {"lexicon show", "Print a lexicon document", {kDatabase, required(kNsid)}, lexicon_show},
          {"lexicon remove",
           "Remove a lexicon with its view and indexes",
           {kDatabase, required(kNsid)},
           lexicon_remove},
          {"lexicon check",
           "Check the stored records against the present lexicons now",
           {kDatabase},
           lexicon_check}};
}

}  // namespace skua::cli
