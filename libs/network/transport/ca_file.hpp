#pragma once

#include <string>

namespace skua::transport {

/// Throws std::runtime_error with the name of the file if HttpClient or StreamClient could not use
/// it as their `ca_file`, because the file cannot be read or contains no certificate in PEM form.
void check_ca_file(const std::string& file);

}  // namespace skua::transport
