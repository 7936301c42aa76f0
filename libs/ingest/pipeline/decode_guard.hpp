#pragma once

#include <exception>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "pipeline/admitted_message.hpp"
#include "pipeline/dispatch.hpp"

namespace skua::pipeline {

/// Runs the decoding of a message. If an unexpected exception comes before the message was handed
/// on, the message is assumed to be the cause. It becomes a dead letter with the exception as its
/// reason, the counter `unforeseen` grows, and the result is false. Errors of the machine
/// (is_of_machine) and exceptions after the hand-over reach the DecodeThread.
template <class Work>
bool guard_message(const DispatchServices& services, AdmittedMessage& message, Work&& work) {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const std::exception& error) {
    if (is_of_machine(error) || services.in_flight.is_decoded(message.ticket)) throw;
    services.intake.unforeseen += 1;
    reject_message(services, message.ticket, message.did, message.seq,
                   std::string("an unexpected exception: ") + error.what(),
                   std::move(message.bytes));
    return false;
  }
}

}  // namespace skua::pipeline
