#pragma once

#include <string>

namespace skua::cli {

/// All metrics for people: name, kind, unit, labels, JSON key and meaning.
std::string metric_list_text();

/// The same as a table of Markdown: the one of docs/metrics.md.
std::string metric_list_markdown();

}  // namespace skua::cli
