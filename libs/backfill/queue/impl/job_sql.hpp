#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/tid.hpp"
#include "store/session.hpp"

/// Parts of the statements on `skua.backfill_jobs`.
namespace skua::backfill::impl {

// The queued jobs of each kind of place, with the conditions of the partial indexes.
inline const std::string kQueuedAtHost = "state = 'queued' AND file IS NULL AND host IS NOT NULL";
inline const std::string kQueuedWithoutHost = "state = 'queued' AND file IS NULL AND host IS NULL";
inline const std::string kQueuedWithFile = "state = 'queued' AND file IS NOT NULL";

/// An expression: how many seconds an unavailable or failed job waits (kRareDelay).
std::string rare_delay_sql();

store::Array text_array(std::span<const std::string> texts);
void add_or_null(store::Array& array, const std::optional<std::string>& text);
void add_or_null(store::Array& array, const std::optional<atproto::Tid>& tid);
std::optional<atproto::Tid> tid_or_null(const store::Rows& rows, std::size_t row,
                                        std::size_t column);

}  // namespace skua::backfill::impl
