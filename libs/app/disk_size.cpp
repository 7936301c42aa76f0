#include "app/disk_size.hpp"

#include "store/process_name.hpp"

namespace skua::app {

std::optional<std::int64_t> DiskSize::growth() {
  const std::optional<std::int64_t> now = size();
  std::optional<std::int64_t> grown;
  if (now && last_) grown = *now - *last_;
  last_ = now;
  return grown;
}

std::optional<std::int64_t> DiskSize::size() {
  try {
    if (!session_) {
      session_ = std::make_unique<store::Session>(database_url_, store::process_name("skua disk"));
    }
    const store::Rows rows = session_->run("SELECT pg_database_size(current_database())");
    return rows.int8(0, 0);
  } catch (const store::SqlError&) {
    session_.reset();
    return std::nullopt;
  }
}

}  // namespace skua::app
