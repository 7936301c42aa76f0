#include "lexicon.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "base/count_text.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "input_file.hpp"
#include "lexicon/lexicon_error.hpp"
#include "lexicon_store/lexicon_table.hpp"
#include "lexicon_store/property_index.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

using lexicon_store::Column;
using lexicon_store::Document;
using lexicon_store::LexiconChange;
using lexicon_store::PropertyIndexes;
using lexicon_store::StoredLexicon;

store::Session lexicon_session(const Settings& settings, const LexiconFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  return {url, store::process_name("skua lexicon")};
}

/// A byte more than the limit, so that a longer file is refused.
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

/// The one document that defines a record, and these properties.
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

/// Drops the indexes of properties that changed.
void drop_old_indexes(store::Session& session, const std::vector<LexiconChange>& changes) {
  for (const LexiconChange& change : changes) {
    const std::string& nsid = change.lexicon.document.nsid;
    if (!change.is_changed || change.lexicon.view_name.empty()) continue;
    if (const auto dropped = PropertyIndexes(session, nsid).keep_only(change.lexicon.columns)) {
      fmt::print("{}: {} of changed properties removed\n", nsid, counted(dropped, "index"));
    }
  }
}

void build_indexes(store::Session& session, const StoredLexicon& lexicon,
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

}  // namespace

int lexicon_add(const Settings& settings, const LexiconFlags& flags) {
  std::vector<Document> documents;
  for (const std::string& file : flags.files) documents.push_back(document_of(file));
  const std::string indexed =
      flags.indexes.empty() ? "" : indexed_document(documents, flags.indexes).nsid;
  store::Session session = lexicon_session(settings, flags);
  std::vector<LexiconChange> changes;
  try {
    changes = lexicon_store::add_lexicons(session, documents);
  } catch (const lexicon::LexiconError& error) {
    throw UsageError(error.what());
  }
  for (const LexiconChange& change : changes) {
    fmt::print("{}: {}\n", change.lexicon.document.nsid, change_text(change));
  }
  // A concurrent build waits for the transactions that run.
  session.limit_lock_waits(std::chrono::milliseconds(0));
  drop_old_indexes(session, changes);
  for (const LexiconChange& change : changes) {
    if (change.lexicon.document.nsid == indexed) {
      build_indexes(session, change.lexicon, flags.indexes);
    }
  }
  return kSuccess;
}

int lexicon_list(const Settings& settings, const LexiconFlags& flags) {
  store::Session session = lexicon_session(settings, flags);
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

int lexicon_show(const Settings& settings, const LexiconFlags& flags) {
  store::Session session = lexicon_session(settings, flags);
  for (const StoredLexicon& lexicon : lexicon_store::read_lexicons(session)) {
    if (lexicon.document.nsid != flags.nsid) continue;
    fmt::print("{}\n", nlohmann::json::parse(lexicon.document.json).dump(2));
    return kSuccess;
  }
  throw UsageError(
      fmt::format("the lexicon '{}' was not added; `skua lexicon list` lists them", flags.nsid));
}

int lexicon_remove(const Settings& settings, const LexiconFlags& flags) {
  store::Session session = lexicon_session(settings, flags);
  std::optional<StoredLexicon> removed;
  try {
    removed = lexicon_store::remove_lexicon(session, flags.nsid);
  } catch (const lexicon::LexiconError& error) {
    throw UsageError(fmt::format("another lexicon needs {}: {}", flags.nsid, error.what()));
  }
  session.limit_lock_waits(std::chrono::milliseconds(0));
  if (!removed) {
    fmt::print("{}: was not added\n", flags.nsid);
    return kSuccess;
  }
  std::size_t dropped = 0;
  if (!removed->view_name.empty()) dropped = PropertyIndexes(session, flags.nsid).keep_only({});
  fmt::print("{}: removed, with {}\n", flags.nsid, counted(dropped, "index"));
  return kSuccess;
}

}  // namespace skua::cli
