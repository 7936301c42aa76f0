#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "atproto/data_model.hpp"
#include "atproto/signing.hpp"
#include "base/bytes.hpp"
#include "base/count_text.hpp"
#include "base/utf8.hpp"
#include "commands.hpp"
#include "identity/document_file.hpp"
#include "option.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "repo/mst_reader.hpp"
#include "repo/repository.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

std::optional<Bytes> read_whole(const std::filesystem::path& file, std::ostream& err) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) {
    err << fmt::format("{}: cannot be read: {}\n", file.string(),
                       error ? error.message() : std::generic_category().message(errno));
    return std::nullopt;
  }
  Bytes bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

class RecordPrinter {
 public:
  RecordPrinter(const repo::BlockMap& blocks, bool json, std::ostream& out, std::ostream& err)
      : blocks_(blocks), json_(json), out_(out), err_(err) {}

  void print(std::string_view path, const atproto::Cid& cid) {
    const auto block = blocks_.find(cid.digest);
    if (block == blocks_.end()) {
      ++missing_;
      err_ << fmt::format("missing record: {} {}\n", readable(path), cid.to_string());
      return;
    }
    line_.clear();
    if (json_) {
      if (!append_json_line(path, cid, block->second)) return;
    } else {
      line_ += readable(path);
      line_ += '\t';
      line_ += cid.to_string();
    }
    line_ += '\n';
    out_ << line_;
    ++printed_;
  }

  std::size_t printed() const { return printed_; }
  std::size_t missing() const { return missing_; }
  std::size_t bad() const { return bad_; }

 private:
  /// A path is plain ASCII unless it is malicious, for example to overwrite our lines: then it is
  /// printed as a JSON string, or described.
  static std::string readable(std::string_view path) {
    bool plain = true;
    for (const char c : path) plain = plain && c > ' ' && c < '\x7f';
    if (plain) return std::string(path);
    if (!is_utf8(path)) return "(a path that is not UTF-8)";
    std::string quoted;
    records::append_json_string(quoted, path, records::Nul::Escape);
    return quoted;
  }

  bool append_json_line(std::string_view path, const atproto::Cid& cid, ByteView block) {
    const auto read = repo::read_dag_cbor(block, record_, repo::kAnyForm);
    if (!read || !is_utf8(path)) {
      ++bad_;
      err_ << fmt::format("bad record: {} {}: {}\n", readable(path), cid.to_string(),
                          read ? "its path is not UTF-8" : read.error().message());
      return false;
    }
    line_ += R"({"path":)";
    records::append_json_string(line_, path, records::Nul::Escape);
    line_ += fmt::format(R"(,"cid":"{}","record":)", cid.to_string());
    records::append_json(line_, record_.root(), records::Nul::Escape);
    line_ += '}';
    return true;
  }

  const repo::BlockMap& blocks_;
  const bool json_;
  std::ostream& out_;
  std::ostream& err_;
  atproto::Document record_;
  std::string line_;
  std::size_t printed_ = 0;
  std::size_t missing_ = 0;
  std::size_t bad_ = 0;
};

/// Reports whether the account's key signed the commit. False: another key did, or this cannot be
/// determined.
bool check_signature(const repo::Commit& commit, const std::filesystem::path& did_docs,
                     std::ostream& err) {
  try {
    const auto documents = identity::DocumentFile::read(did_docs);
    const identity::Account* account = documents.find(commit.did);
    if (account == nullptr || !account->key) {
      err << fmt::format("not verified: no usable document of {} in {}\n", commit.did,
                         did_docs.string());
      return false;
    }
    const auto checked = atproto::verify_signature(
        *account->key, repo::unsigned_commit_bytes(commit), commit.signature);
    if (!checked) {
      err << fmt::format("not verified: {}\n", checked.error().message());
      return false;
    }
    err << "verified: the commit is signed by its account's key\n";
    return true;
  } catch (const std::runtime_error& error) {
    err << error.what() << '\n';
    return false;
  }
}

/// `skua inspect repo`: lists the records of a repository's CAR on `out` in key order, as lines
/// `path<TAB>cid`, or with `json` as lines with one JSON object: path, cid, record. Totals, and the
/// missing parts of a partial repository, go to `err`. Returns the exit code: 1 if anything was
/// missing or invalid. With `did_docs`, a file of DID documents, it checks the commit's signature
/// and reports on `err`; a signature with another key counts as invalid.
int inspect_repo(const std::filesystem::path& file, bool json, const OptionalText& did_docs,
                 std::ostream& out, std::ostream& err) {
  cli::require_file("FILE", file);
  if (did_docs) cli::require_file("--did-docs", *did_docs);
  const auto bytes = read_whole(file, err);
  if (!bytes) return 1;
  const auto repository = repo::open_repository(*bytes);
  if (!repository) {
    err << fmt::format("{}: {}\n", file.string(), repository.error().message());
    return 1;
  }
  const repo::BlockMap& blocks = repository->car.blocks;
  RecordPrinter printer(blocks, json, out, err);
  const auto walk = repo::walk_mst(
      repository->commit.data, blocks,
      [&](std::string_view path, const atproto::Cid& cid) { printer.print(path, cid); });
  out.flush();
  if (!walk) {
    err << fmt::format("{}: {}\n", file.string(), walk.error().message());
    return 1;
  }
  const auto& commit = repository->commit;
  err << fmt::format("{}, {}, {}, did {}, rev {}, version {}\n",
                     counted(printer.printed(), "record"), counted(blocks.size(), "block"),
                     counted(repository->car.duplicates, "duplicate"), commit.did,
                     commit.rev ? commit.rev->to_string() : "none", commit.version);
  if (walk->missing_nodes + printer.missing() > 0) {
    err << fmt::format("incomplete: without {} and {}\n", counted(walk->missing_nodes, "tree node"),
                       counted(printer.missing(), "record"));
  }
  const bool verified = !did_docs || check_signature(commit, *did_docs, err);
  const bool whole = walk->missing_nodes + printer.missing() + printer.bad() == 0;
  return whole && verified ? 0 : 1;
}

}  // namespace

CommandSpecs inspect_repo_commands() {
  return {{"inspect repo",
           "List the records of a CAR file",
           {required(kFile, "A CAR file of getRepo"),
            with_meaning(kJson, "Print a JSON line for each record, with its content"), kDidDocs},
           [](const Invocation& invocation) {
             return inspect_repo(invocation[kFile], invocation[kJson], invocation[kDidDocs],
                                 std::cout, std::cerr);
           }}};
}

}  // namespace skua::cli
