#pragma once

#include <exception>
#include <string>
#include <utility>

#include "base/machine_error.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/dispatch.hpp"

namespace skua::ingest {

/// Runs the decoding of a message and returns its result. An unexpected exception before the
/// message was handed on is blamed on the message: the message becomes a dead letter with the
/// exception as its reason, the counter `unforeseen` grows, and the result is `rejected`. Errors of
/// the machine (is_of_machine) and exceptions after the hand-over pass on to `guard_thread`.
template <class Work, class Outcome>
Outcome guard_message(const DispatchServices& services, AdmittedMessage& message, Outcome rejected,
                      Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception& error) {
    if (is_of_machine(error) || services.in_flight.is_decoded(message.ticket)) throw;
    services.intake.unforeseen += 1;
    reject_message(services, message.ticket, message.did, message.seq,
                   std::string("an unexpected exception: ") + error.what(),
                   std::move(message.bytes));
    return rejected;
  }
}

/// Runs a decoder's thread. An exception is a fatal error and ends the thread.
template <class Work>
void guard_thread(const DispatchServices& services, Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const std::exception& error) {
    services.runtime.fatal(std::string("messages cannot be decoded: ") + error.what());
  }
}

}  // namespace skua::ingest
