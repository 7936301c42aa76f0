#include "consumers/own/projection_catalog.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "base/log.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/own/own_functions.hpp"
#include "consumers/own/own_projection.hpp"
#include "consumers/own/projection_catalog.sql.hpp"
#include "consumers/projections/projection_tables.hpp"

namespace skua::consumers {
namespace {

/// The projections of texts by their hash.
class Texts {
 public:
  ProjectionRef find(const std::string& sha256) const {
    const std::scoped_lock lock(mutex_);
    const auto found = read_.find(sha256);
    return found == read_.end() ? nullptr : found->second;
  }
  void put(const std::string& sha256, ProjectionRef projection) {
    const std::scoped_lock lock(mutex_);
    if (read_.size() >= kMost) read_.clear();
    read_.insert_or_assign(sha256, std::move(projection));
  }

 private:
  static constexpr std::size_t kMost = 1'000;
  mutable std::mutex mutex_;
  std::map<std::string, ProjectionRef> read_;
};

Texts& texts() {
  static Texts read;
  return read;
}

/// Built-in projections live as long as the program.
ProjectionRef built_in(std::string_view name) {
  return {std::shared_ptr<const void>(), find_projection(name)};
}

ProjectionRef stored(postgres::Session& session, const std::string& sha256) {
  if (ProjectionRef known = texts().find(sha256)) return known;
  const auto text = session.query_first<std::string>(sql::catalog_text, sha256);
  if (!text) return nullptr;
  try {
    auto read = std::make_shared<const Projection>(read_own_projection(*text));
    texts().put(sha256, read);
    return read;
  } catch (const std::invalid_argument& error) {
    // Another version of the program stored the text.
    logger("feed")->error("the text {} of a projection cannot be read: {}", sha256, error.what());
    return nullptr;
  }
}

void require_owner(postgres::Session& session) {
  if (may_change_tables(session)) return;
  throw ConsumerError("only the owner of the tables can do this: run the command as that role");
}

/// Another projection must not have a view of the same name, which an exchange would replace.
void check_views(postgres::Session& session, const Projection& projection) {
  std::set<std::string> former;
  for (const StoredProjection& other : read_stored_projections(session)) {
    const ProjectionRef read = stored(session, other.sha256);
    if (read == nullptr) continue;
    for (const ProjectionTable& table : read->tables) {
      if (table.is_internal) continue;
      if (other.name == projection.name) {
        former.insert(table.name);
        continue;
      }
      for (const ProjectionTable& own : projection.tables) {
        if (own.is_internal || own.name != table.name) continue;
        throw ConsumerError(
            fmt::format("the projection {} has a table {}, too: give yours another name",
                        other.name, own.name));
      }
    }
  }
  for (const ProjectionTable& own : projection.tables) {
    if (own.is_internal || former.contains(own.name)) continue;
    if (!session.query_one<bool>(sql::catalog_relation, own.name)) continue;
    throw ConsumerError(fmt::format(
        "projections.{} exists already: drop it, or give the table another name", own.name));
  }
}

/// Makes the views of a projection, which have no rows before the first build. Views of tables that
/// a consumer has stay until the exchange.
void declare_views(postgres::Session& session, const Projection& projection,
                   const std::vector<StoredProjection>& former) {
  const bool is_used = used_projection(session, projection.name) != nullptr;
  if (!is_used) {
    for (const StoredProjection& version : former) {
      const ProjectionRef read = stored(session, version.sha256);
      if (read != nullptr) drop_former_views(session, *read, projection);
    }
  }
  for (const OwnTable& table : projection.own->tables) {
    if (table.is_internal) continue;
    session.execute(sql::catalog_declare, table.name, table.types, projection.help, is_used);
  }
}

std::vector<StoredProjection> versions_of(postgres::Session& session, const std::string& name) {
  std::vector<StoredProjection> versions = read_stored_projections(session);
  std::erase_if(versions, [&](const StoredProjection& one) { return one.name != name; });
  return versions;
}

}  // namespace

ProjectionRef projection_of(postgres::Session& session, std::string_view name,
                            std::string_view definition) {
  return definition.empty() ? built_in(name) : stored(session, std::string(definition));
}

ProjectionRef newest_projection(postgres::Session& session, std::string_view name) {
  const auto sha256 = session.query_first<std::string>(sql::catalog_newest, std::string(name));
  return sha256 ? stored(session, *sha256) : built_in(name);
}

ProjectionRef used_projection(postgres::Session& session, std::string_view name) {
  const auto definition = session.query_first<std::string>(sql::catalog_used, std::string(name));
  return definition ? projection_of(session, name, *definition) : nullptr;
}

bool has_own_projections(postgres::Session& session) {
  return session.query_one<bool>(sql::catalog_has_consumers);
}

std::vector<std::string> projection_names(postgres::Session& session) {
  std::vector<std::string> names = session.query<std::string>(sql::catalog_names);
  for (const Projection& one : projections()) names.push_back(one.name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<StoredProjection> read_stored_projections(postgres::Session& session) {
  return session.query<StoredProjection>(sql::catalog_read);
}

void insert_text(postgres::Session& session, const Projection& projection) {
  session.execute(sql::catalog_insert, projection.name, projection.version, projection.help,
                  projection.own->sha256, projection.own->text);
}

void remove_texts(postgres::Session& session, const std::string& name) {
  session.execute(sql::catalog_remove, name);
}

ProjectionChange add_projection(postgres::Session& session, const Projection& projection) {
  require_owner(session);
  const std::string& name = projection.name;
  if (find_projection(name) != nullptr) {
    throw ConsumerError(fmt::format("{} is a built-in projection: give yours another name", name));
  }
  check_in_database(session, projection);
  ConsumerChange change(session);
  if (session.query_one<bool>(sql::catalog_other_consumer, name)) {
    throw ConsumerError(fmt::format(
        "a consumer outside of the database has the name {}: give the projection another name",
        name));
  }
  const auto versions = versions_of(session, name);
  check_views(session, projection);
  if (!versions.empty()) {
    const StoredProjection& newest = versions.back();
    if (newest.sha256 == projection.own->sha256) return ProjectionChange::Unchanged;
    if (projection.version < newest.version) {
      throw ConsumerError(fmt::format("the stored version of {} is {}, newer than {} of the file",
                                      name, newest.version, projection.version));
    }
    if (projection.version == newest.version) {
      if (session.query_one<bool>(sql::catalog_is_used, newest.sha256)) {
        throw ConsumerError(fmt::format(
            "a consumer uses version {0} of {1}, with another text: write `-- version: {2}` into "
            "the file, so that its tables are built again",
            newest.version, name, newest.version + 1));
      }
      session.execute(sql::catalog_remove_version, name, newest.version);
    }
  }
  declare_views(session, projection, versions);
  insert_text(session, projection);
  session.execute(sql::catalog_remove_unused, name);
  change.commit();
  return versions.empty() ? ProjectionChange::Added : ProjectionChange::Replaced;
}

bool is_stored(postgres::Session& session, const std::string& name) {
  return session.query_first<std::string>(sql::catalog_newest, name).has_value();
}

void require_removable_projection(postgres::Session& session, const std::string& name) {
  if (!is_stored(session, name)) {
    throw ConsumerError(
        find_projection(name) != nullptr
            ? fmt::format("{0} is built in: `skua consumers remove {0}` drops its tables", name)
            : fmt::format("no projection {} was added: `skua projection list` shows all", name));
  }
  if (used_projection(session, name) != nullptr) {
    throw ConsumerError(
        fmt::format("a consumer uses it: run `skua consumers remove {}` first", name));
  }
}

void remove_projection(postgres::Session& session, const std::string& name) {
  require_owner(session);
  ConsumerChange change(session);
  require_removable_projection(session, name);
  const auto versions = versions_of(session, name);
  for (const StoredProjection& version : versions) {
    const ProjectionRef projection = stored(session, version.sha256);
    if (projection == nullptr) continue;
    for (const ProjectionTable& table : projection->tables) {
      if (!table.is_internal) session.run("DROP VIEW IF EXISTS projections." + table.name);
    }
  }
  session.execute(sql::catalog_forget_retired, name);
  remove_texts(session, name);
  change.commit();
}

}  // namespace skua::consumers
