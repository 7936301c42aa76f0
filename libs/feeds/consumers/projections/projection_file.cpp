#include "consumers/projections/projection_file.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "base/text.hpp"

namespace skua::consumers {
namespace {

/// The words of the lines that begin a part. A word without a colon takes no argument.
constexpr std::string_view kParts[] = {
    "projection:",  "version:",       "help:",           "lanes:",         "depends on:", "table:",
    "index:",       "include:",       "internal table:", "fragment:",      "fill",        "fold",
    "drain",        "waiting",        "publish",         "differences",    "rows:",       "sum:",
    "collections:", "batch seconds:", "batch rows:",     "build seconds:", "nodes:",      "view"};

/// A fragment may contain other fragments up to this depth.
constexpr int kDepth = 8;
/// An expanded statement has at most this number of bytes. Fragments could multiply a text.
constexpr std::size_t kLongestStatement = 1'000'000;

// The bounds of the limits that the file of a user may set (OwnLimits).
constexpr std::int32_t kMostBatchSeconds = 60;
constexpr std::int32_t kMostBuildSeconds = 7 * 86'400;
constexpr std::int32_t kMostBatchRows = 10'000'000;

struct Part {
  /// The word of the line, without its colon.
  std::string_view kind;
  std::string argument;
  std::string body;
  int line = 0;
};

[[noreturn]] void fail(int line, const std::string& what) {
  throw std::invalid_argument(fmt::format("line {}: {}", line, what));
}

/// Returns the part that a line begins; nothing if the line begins no part.
std::optional<Part> part_at(std::string_view line) {
  if (!line.starts_with("-- ")) return std::nullopt;
  line.remove_prefix(3);
  for (const std::string_view kind : kParts) {
    if (!kind.ends_with(':')) {
      if (line == kind) return Part{.kind = kind, .argument = {}, .body = {}};
    } else if (line.starts_with(kind)) {
      return Part{.kind = kind.substr(0, kind.size() - 1),
                  .argument = std::string(trimmed(line.substr(kind.size()))),
                  .body = {}};
    }
  }
  return std::nullopt;
}

std::vector<Part> parts_of(std::string_view text) {
  std::vector<Part> parts;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (auto part = part_at(line)) {
      part->line = number;
      parts.push_back(std::move(*part));
    } else if (trimmed(line).empty() || trimmed(line).starts_with("--")) {
      continue;
    } else if (parts.empty()) {
      fail(number, "SQL in front of the first part");
    } else {
      parts.back().body += std::string(line) + '\n';
    }
  }
  for (Part& part : parts) {
    std::string_view body = trimmed(part.body);
    if (body.ends_with(';')) body.remove_suffix(1);
    part.body = std::string(trimmed(body));
  }
  return parts;
}

/// Reads the parts of a file, and of the files that it includes.
class Reader {
 public:
  Reader(const IncludedFile& included, std::optional<OwnParts> own)
      : included_(included), own_(std::move(own)) {}

  Projection read(std::string_view text) {
    read_parts(text);
    if (own_) {
      for (auto* parts : {&own_->rows, &own_->sums}) {
        for (OwnRows& part : *parts) expand(part.select);
      }
    }
    expand(projection_.fill);
    expand(projection_.fold);
    expand(projection_.drain);
    for (std::string* one :
         {&projection_.waiting_pos, &projection_.publish, &projection_.differences}) {
      expand(*one);
    }
    require(!projection_.name.empty(), "-- projection: NAME");
    require(!projection_.tables.empty(), "-- table: NAME");
    if (!own_) require(!projection_.differences.empty(), "-- differences");
    const bool has_rows = own_ && !own_->rows.empty();
    if (!has_rows) {
      require(!projection_.fill.empty(), own_ ? "-- rows: TABLE` or `-- fill" : "-- fill");
      require(!projection_.fold.empty(), "-- fold");
    }
    projection_.own = std::move(own_);
    return std::move(projection_);
  }

 private:
  void read_parts(std::string_view text) {
    for (Part& part : parts_of(text)) take(std::move(part));
  }

  void take(Part part) {
    const std::string_view kind = part.kind;
    if (kind == "projection") {
      projection_.name = part.argument;
    } else if (kind == "version") {
      projection_.version = number_of(part, std::numeric_limits<std::int32_t>::max());
    } else if (kind == "help") {
      projection_.help = part.argument;
    } else if (kind == "lanes") {
      if (part.argument != "several") fail(part.line, "`-- lanes:` has the value `several`");
      projection_.has_lanes = true;
    } else if (kind == "depends on") {
      projection_.depends_on = names_of(part.argument);
    } else if (kind == "table" || kind == "internal table") {
      projection_.tables.push_back({.name = part.argument,
                                    .definition = body_of(part),
                                    .indexes = {},
                                    .is_internal = kind != "table"});
    } else if (kind == "index") {
      if (projection_.tables.empty()) fail(part.line, "an index in front of the first table");
      projection_.tables.back().indexes.push_back(part.argument);
    } else if (kind == "include") {
      std::string text(included_(part.argument));
      boost::replace_all(text, "PROJECTION", projection_.name);
      read_parts(text);
    } else if (kind == "fragment") {
      fragments_.insert_or_assign("{{" + part.argument + "}}", std::move(part.body));
    } else if (kind == "view") {
      // `skua migrate` applies this part (libs/database/postgres/embed_schema.cmake).
      if (own_) fail(part.line, "`-- view` is for built-in projections");
    } else if (kind == "fill") {
      projection_.fill.push_back(body_of(part));
    } else if (kind == "fold") {
      projection_.fold.push_back(body_of(part));
    } else if (kind == "drain") {
      projection_.drain.push_back(body_of(part));
    } else if (kind == "waiting") {
      projection_.waiting_pos = body_of(part);
    } else if (kind == "publish") {
      projection_.publish = body_of(part);
    } else if (kind == "differences") {
      projection_.differences = body_of(part);
    } else {
      take_own(part);
    }
  }

  /// Takes a part that only the file of a user may have.
  void take_own(Part& part) {
    if (!own_) fail(part.line, fmt::format("`-- {}:` is for projections of users", part.kind));
    const std::string_view kind = part.kind;
    if (kind == "collections") {
      own_->collections = names_of(part.argument);
    } else if (kind == "rows") {
      own_->rows.push_back({.table = part.argument, .select = body_of(part)});
    } else if (kind == "sum") {
      own_->sums.push_back({.table = part.argument, .select = body_of(part)});
    } else if (kind == "nodes") {
      if (projection_.tables.empty()) fail(part.line, "`-- nodes:` in front of the first table");
      if (part.argument != "rows" && part.argument != "sums") {
        fail(part.line, "`-- nodes:` has the value `rows` or `sums`");
      }
      own_->on_nodes[projection_.tables.back().name] =
          part.argument == "rows" ? OnNodes::Rows : OnNodes::Sums;
    } else if (kind == "batch seconds") {
      own_->limits.batch = std::chrono::seconds(number_of(part, kMostBatchSeconds));
    } else if (kind == "build seconds") {
      own_->limits.build = std::chrono::seconds(number_of(part, kMostBuildSeconds));
    } else {
      own_->limits.rows = number_of(part, kMostBatchRows);
    }
  }

  static std::string body_of(Part& part) {
    if (part.body.empty()) fail(part.line, fmt::format("`-- {}` has no SQL", part.kind));
    return std::move(part.body);
  }

  static std::int32_t number_of(const Part& part, std::int32_t most) {
    std::int32_t number = 0;
    const char* const end = part.argument.data() + part.argument.size();
    const auto read = std::from_chars(part.argument.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 1 || number > most) {
      const bool is_bounded = most != std::numeric_limits<std::int32_t>::max();
      fail(part.line, is_bounded
                          ? fmt::format("the number of `-- {}:` is from 1 to {}", part.kind, most)
                          : fmt::format("the {} is a number from 1 on", part.kind));
    }
    return number;
  }

  static std::vector<std::string> names_of(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      names.emplace_back(trimmed(list.substr(0, end)));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
    return names;
  }

  void expand(std::vector<std::string>& statements) const {
    for (std::string& sql : statements) expand(sql);
  }
  void expand(std::string& sql) const {
    for (int depth = 0; depth < kDepth && sql.find("{{") != std::string::npos; ++depth) {
      for (const auto& [name, text] : fragments_) {
        if (sql.size() + occurrences(sql, name) * text.size() > kLongestStatement) {
          throw std::invalid_argument("a statement is longer than 1 MB with its fragments");
        }
        boost::replace_all(sql, name, text);
      }
    }
    if (const std::size_t at = sql.find("{{"); at != std::string::npos) {
      const std::string name = sql.substr(at, sql.find("}}", at) + 2 - at);
      throw std::invalid_argument(name + " is no fragment of the file, or contains itself");
    }
  }

  static std::size_t occurrences(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size())) {
      ++count;
    }
    return count;
  }

  static void require(bool has, const char* part) {
    if (!has) throw std::invalid_argument(fmt::format("`{}` is missing", part));
  }

  const IncludedFile& included_;
  Projection projection_;
  std::optional<OwnParts> own_;
  /// The texts of the fragments by name; the names include the braces.
  std::map<std::string, std::string> fragments_;
};

}  // namespace

Projection parse_projection(std::string_view text, const IncludedFile& included) {
  return Reader(included, std::nullopt).read(text);
}

Projection parse_own_projection(std::string_view text) {
  const IncludedFile included = [](std::string_view name) -> std::string_view {
    throw std::invalid_argument(
        fmt::format("`-- include: {}`: a projection of a user is one file", name));
  };
  OwnParts own;
  own.text = text;
  return Reader(included, std::move(own)).read(text);
}

}  // namespace skua::consumers
