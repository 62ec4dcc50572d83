// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/error.h"

namespace catena {
namespace {

std::string joined(const std::vector<Diagnostic>& problems) {
  std::string text;
  for (const Diagnostic& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.text();
  }
  return text;
}

}  // namespace

std::string Diagnostic::text() const {
  std::string prefix;
  if (!source.file.empty()) {
    prefix = source.file + ':';
    if (source.line > 0) prefix += std::to_string(source.line) + ':';
    prefix += ' ';
  }
  return prefix + (severity == Severity::error ? "error: " : "warning: ") + message;
}

ModelError::ModelError(std::vector<Diagnostic> problems)
    : Error(joined(problems)), problems_(std::move(problems)) {}

}  // namespace catena
