// SPDX-License-Identifier: BSD-3-Clause
// A thin layer on tinyxml2 for the URDF and SDF readers: handles to elements that know their file
// and line, numbers read in the same way in every locale, and a report that collects all problems.
//
// tinyxml2 stays behind this header. It parses and frees elements recursively; the depth of the
// tags is therefore measured beforehand, without recursion (kDeepestNesting).
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/base/error.h"
#include "catena/spatial/transform.h"

namespace tinyxml2 {
class XMLDocument;
class XMLElement;  // NOLINT: declared only
}  // namespace tinyxml2

namespace catena::xml {

// Deeper files are refused; robots need less than a fifth of it, and tinyxml2 itself stops at 100.
inline constexpr int kDeepestNesting = 90;

// A handle to an element, or to nothing. Valid as long as its File lives.
class Element {
 public:
  Element() = default;
  Element(const tinyxml2::XMLElement* element, const std::string* file)
      : element_(element), file_(file) {}

  explicit operator bool() const { return element_ != nullptr; }
  friend bool operator==(const Element&, const Element&) = default;

  std::string_view tag() const;
  Source source() const;
  Element parent() const;
  // The first child (with this tag), and the next sibling (with this tag).
  Element child(const char* tag = nullptr) const;
  Element next(const char* tag = nullptr) const;
  std::vector<Element> children(const char* tag = nullptr) const;

  // The value of an attribute, or nullptr.
  const char* attribute(const char* name) const;
  std::vector<std::string> attribute_names() const;
  // The text inside, without white space around it.
  std::string text() const;

  // "<origin> of joint 'elbow'": this element and the innermost named one around it.
  std::string description() const;

 private:
  const tinyxml2::XMLElement* element_ = nullptr;
  const std::string* file_ = nullptr;
};

// Collects the problems of a file.
class Report {
 public:
  explicit Report(bool strict = false) : strict_(strict) {}

  void error(const Source& source, std::string message);
  void warning(const Source& source, std::string message);
  // A mistake that is usual in public files: an error if strict, else a warning.
  void doubtful(const Source& source, std::string message);
  // As warning(), but the same message (without its line) only once.
  void warning_once(const Source& source, std::string message);

  // "; did you mean 'elbow'?" or "". Costs a pass over the candidates, hence only for the first
  // hundred mistakes of a file.
  std::string suggestion(std::string_view word, std::span<const std::string> candidates);

  bool strict() const { return strict_; }
  bool has_error() const { return has_error_; }
  std::vector<Diagnostic> take() { return std::move(found_); }

 private:
  bool strict_ = false;
  bool has_error_ = false;
  int suggestions_ = 0;
  std::vector<Diagnostic> found_;
  std::set<std::string> said_;
};

// A parsed file, which owns its elements.
class File {
 public:
  // Without a root when the file cannot be read or is malformed; the report says why.
  static File read(const std::string& path, Report& report);
  static File parse(const std::string& text, const std::string& name, Report& report);

  Element root() const { return root_; }
  const std::string& name() const { return *name_; }

  File();  // without a root
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

 private:
  std::unique_ptr<std::string> name_;
  std::unique_ptr<tinyxml2::XMLDocument> document_;
  Element root_;
};

// The words that a format knows inside one element.
struct Vocabulary {
  std::vector<std::string> once;        // tags that may stand there once
  std::vector<std::string> many;        // tags that may be repeated
  std::vector<std::string> attributes;  // may be empty
  std::vector<std::string> foreign;     // tags of other programs, which are ignored
};

// An unknown word near a known one is an error, as is a repeated attribute. Any other unknown tag
// is a warning, and so are tags with a colon (other namespaces), once for each namespace.
void check_words(const Element& element, const Vocabulary& vocabulary, const char* format,
                 Report& report);

// Numbers -------------------------------------------------------------------------------------

enum class Infinite { refused, allowed };

// White space separated numbers; `what` begins the message when there are not `count` of them, or
// when one is no number, NaN or (unless allowed) infinite.
std::optional<std::vector<double>> parse_numbers(std::string_view text, std::size_t count,
                                                 Infinite infinite, const Source& source,
                                                 const std::string& what, Report& report);

// The number of an attribute. A missing attribute gives `otherwise`, or an error if there is none.
double number_of(const Element& element, const char* attribute, std::optional<double> otherwise,
                 Report& report, Infinite infinite = Infinite::refused);
Vec3d vector_of(const Element& element, const char* attribute, const Vec3d& otherwise,
                Report& report);

// The number that is the text of an element.
double text_number(const Element& element, double otherwise, Report& report,
                   Infinite infinite = Infinite::refused);
Vec3d text_vector(const Element& element, const Vec3d& otherwise, Report& report);
// 0, 1, true or false.
bool text_bool(const Element& element, bool otherwise, Report& report);
bool bool_of(const Element& element, const char* attribute, bool otherwise, Report& report);

// The name of an element; missing or empty names are an error.
std::string name_of(const Element& element, Report& report);

}  // namespace catena::xml
