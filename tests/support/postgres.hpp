#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "postgres/migrations.hpp"
#include "postgres/session.hpp"

#if defined(__SANITIZE_ADDRESS__)
/// libpqxx 6.4.5 loses the answer with which a server ends a connection: 2 kB a lost connection.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((used)) inline const char* __lsan_default_suppressions() {
  return "leak:libpqxx\n";
}
#endif

namespace skua::test {

/// The throwaway server that scripts/test starts: SKUA_TEST_DATABASE_URL, a superuser's
/// `postgresql://` URL. Nothing when there is none.
inline std::optional<std::string> postgres_url() {
  const char* url = std::getenv("SKUA_TEST_DATABASE_URL");
  if (url == nullptr || *url == '\0') return std::nullopt;
  return std::string(url);
}

inline bool postgres_is_required() {
  const char* required = std::getenv("SKUA_REQUIRE_POSTGRES");
  return required != nullptr && std::string(required) == "1";
}

/// The server's URL with another database name.
inline std::string url_of_database(const std::string& name) {
  std::string url = postgres_url().value();
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) {
    throw std::invalid_argument("SKUA_TEST_DATABASE_URL must be a postgresql:// URL");
  }
  const std::size_t query = std::min(url.find('?'), url.size());
  const std::size_t slash = url.find('/', scheme + 3);
  const std::size_t path = slash == std::string::npos || slash > query ? query : slash;
  return url.substr(0, path) + "/" + name + url.substr(query);
}

inline std::string unique_database_name(const std::string& kind) {
  static std::atomic<int> next{0};
  return "skua_test_" + kind + "_" + std::to_string(getpid()) + "_" + std::to_string(next++);
}

inline void create_database(const std::string& name, const std::string& options = {}) {
  postgres::Session(postgres_url().value(), "test").run("CREATE DATABASE " + name + options);
}

/// With the sessions that are still connected.
inline void drop_database(const std::string& name) {
  try {
    postgres::Session(postgres_url().value(), "test")
        .run("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
  } catch (const postgres::SqlError& error) {
    ADD_FAILURE() << "database " << name << " was not dropped: " << error.what();
  }
}

/// A migrated database that is copied: much faster than migrating each time. Made on first use, and
/// dropped after the last test, not by a static destructor: a session may log, and the loggers may
/// be gone by then.
class TemplateDatabase : public testing::Environment {
 public:
  const std::string& name() {
    if (name_.empty()) {
      const std::string name = unique_database_name("template");
      create_database(name);
      postgres::Session session(url_of_database(name), "test");
      postgres::migrate(session, postgres::schema());
      name_ = name;
    }
    return name_;
  }
  void TearDown() override {
    if (!name_.empty()) drop_database(name_);
    name_.clear();
  }

 private:
  std::string name_;
};

/// The instance of the program. GoogleTest owns it.
inline TemplateDatabase& template_database = static_cast<TemplateDatabase&>(
    *testing::AddGlobalTestEnvironment(new TemplateDatabase));  // NOLINT

/// A database of its own. The destructor drops it and closes its connections. It is created on
/// first use, so that a fixture may have one as a member and still be skipped.
class Database {
 public:
  enum class Content { migrated, empty };

  explicit Database(Content content = Content::migrated) : content_(content) {}
  ~Database() {
    if (!name_.empty()) drop_database(name_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Empty without a server.
  const std::string& url() {
    if (name_.empty() && postgres_url()) create();
    return url_;
  }

  const std::string& name() {
    if (name_.empty()) create();
    return name_;
  }

 private:
  void create() {
    std::string name = unique_database_name("case");
    create_database(name, content_ == Content::migrated ? " TEMPLATE " + template_database.name()
                                                        : std::string());
    url_ = url_of_database(name);
    name_ = std::move(name);
  }

  const Content content_;
  std::string name_;
  std::string url_;
};

/// Whether a session of this database waits for a lock. The server has databases of other tests
/// too, so `pg_locks` alone does not tell. The session must not be in a transaction, where the
/// server's view of its sessions does not change.
inline bool a_session_waits_for_a_lock(postgres::Session& session) {
  return !session
              .run(
                  "SELECT FROM pg_stat_activity WHERE datname = current_database() AND "
                  "backend_type = 'client backend' AND wait_event_type = 'Lock'")
              .empty();
}

/// A test case with a database and a session on it.
class PostgresTest : public testing::Test {
 protected:
  postgres::Session& session() {
    if (!session_) session_ = std::make_unique<postgres::Session>(database_.url(), "test");
    return *session_;
  }

  /// The first field of the first row, as text; empty when there is none or it is null.
  std::string value(const std::string& sql) {
    const postgres::Rows rows = session().run(sql);
    if (rows.empty() || rows.is_null(0, 0)) return {};
    return std::string(rows.text(0, 0));
  }

  Database database_;

 private:
  std::unique_ptr<postgres::Session> session_;
};

}  // namespace skua::test

/// Ends the test as skipped, or as failed where it is required, when there is no server.
#define SKUA_NEED_POSTGRES()                                                            \
  do {                                                                                  \
    if (!skua::test::postgres_url()) {                                                  \
      if (skua::test::postgres_is_required()) FAIL() << "needs SKUA_TEST_DATABASE_URL"; \
      GTEST_SKIP() << "needs SKUA_TEST_DATABASE_URL";                                   \
    }                                                                                   \
  } while (false)
