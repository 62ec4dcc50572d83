// SPDX-License-Identifier: BSD-3-Clause
// Errors that the library throws, and the diagnostics in a ModelError.
//
//   try {
//     const Mechanism robot = load("robot.urdf");
//   } catch (const ModelError& e) {
//     for (const Diagnostic& d : e.problems()) ...
//   }
//
// Every message names the thing (body, hinge, quantity) and the number that is wrong. A ModelError
// reports all problems of a model at once, each with file and line if the model was read from a
// file.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace catena {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Position in a file; line 0: not from a file.
struct Source {
  std::string file;
  int line = 0;
};

enum class Severity { warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  Source source;
  std::string message;

  // `file:line: error: message`, without the parts that are not known.
  std::string text() const;
};

// A mechanism (or the file that describes it) is wrong. what() has one line for each problem.
class ModelError : public Error {
 public:
  explicit ModelError(std::vector<Diagnostic> problems);
  const std::vector<Diagnostic>& problems() const { return problems_; }

 private:
  std::vector<Diagnostic> problems_;
};

// A computation cannot be done with these numbers: wrong size, NaN, singular hinge inertia, ...
class NumericalError : public Error {
 public:
  using Error::Error;
};

// An unknown name; the message suggests the nearest one.
class NameError : public Error {
 public:
  using Error::Error;
};

}  // namespace catena
