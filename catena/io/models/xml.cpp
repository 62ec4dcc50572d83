// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/xml.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <tinyxml2.h>

#include "catena/base/text.h"
#include "catena/io/text_file.h"

namespace catena::xml {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Text for a message: not longer than a line, without control characters.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown(text.substr(0, kLongest));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return "'" + shown + (text.size() > kLongest ? "...'" : "'");
}

// The line in which tags are nested deeper than allowed, or 0.
int line_too_deep(std::string_view text) {
  int line = 1;
  int depth = 0;
  std::size_t i = 0;
  const auto skip_past = [&](std::string_view end) {
    const std::size_t found = text.find(end, i);
    const std::size_t stop = found == std::string_view::npos ? text.size() : found + end.size();
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                        text.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    i = stop;
  };
  while (i < text.size()) {
    skip_past("<");
    if (i >= text.size()) break;
    if (text.substr(i, 3) == "!--") {
      skip_past("-->");
    } else if (text.substr(i, 8) == "![CDATA[") {
      skip_past("]]>");
    } else if (text[i] == '?' || text[i] == '!') {
      skip_past(">");
    } else if (text[i] == '/') {
      --depth;
      skip_past(">");
    } else {
      if (++depth > kDeepestNesting) return line;
      while (i < text.size() && text[i] != '>') {
        if (text[i] == '"' || text[i] == '\'') {
          const char quote = text[i++];
          skip_past({&quote, 1});
        } else {
          if (text[i] == '\n') ++line;
          ++i;
        }
      }
      if (i < text.size() && text[i - 1] == '/') --depth;
    }
  }
  return 0;
}

// The tag that the parser was at, as "<axis>", or "a tag" when it does not say.
std::string tag_at(const tinyxml2::XMLDocument& document) {
  constexpr std::string_view kBefore = "XMLElement name=";
  const std::string_view text = document.ErrorStr();
  const std::size_t place = text.find(kBefore);
  if (place == std::string_view::npos) return "a tag";
  return "<" + std::string(trimmed(text.substr(place + kBefore.size()))) + ">";
}

// The mistake of the text, in words of XML.
std::string syntax_problem(const tinyxml2::XMLDocument& document) {
  switch (document.ErrorID()) {
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "the file has no element in it";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "malformed XML: " + tag_at(document) +
             ", opened here, is not closed, or closed by another name";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "malformed XML: " + tag_at(document) +
             ": an attribute must read name=\"value\", and stand there only once";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "malformed XML: a comment is not closed by -->";
    case tinyxml2::XML_ERROR_PARSING_CDATA:
      return "malformed XML: a CDATA section is not closed by ]]>";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
      return "malformed XML: text that no tag follows; is the file cut off, or not XML?";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "malformed XML: the declaration <?xml ... ?> must come first and end with ?>";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return "tags are nested too deeply";
    default:
      return "malformed XML: " + tag_at(document) +
             " must read <name attribute=\"value\"> and be closed by </name>; is the file cut off?";
  }
}

}  // namespace

// Elements ------------------------------------------------------------------------------------

std::string_view Element::tag() const { return element_->Name(); }

Source Element::source() const {
  if (!element_) return {};
  return {*file_, element_->GetLineNum()};
}

Element Element::parent() const {
  const tinyxml2::XMLNode* node = element_ ? element_->Parent() : nullptr;
  return {node ? node->ToElement() : nullptr, file_};
}

Element Element::child(const char* tag) const {
  return {element_ ? element_->FirstChildElement(tag) : nullptr, file_};
}

Element Element::next(const char* tag) const {
  return {element_ ? element_->NextSiblingElement(tag) : nullptr, file_};
}

std::vector<Element> Element::children(const char* tag) const {
  std::vector<Element> list;
  for (Element e = child(tag); e; e = e.next(tag)) list.push_back(e);
  return list;
}

const char* Element::attribute(const char* name) const {
  return element_ ? element_->Attribute(name) : nullptr;
}

std::vector<std::string> Element::attribute_names() const {
  std::vector<std::string> names;
  if (element_)
    for (const auto* a = element_->FirstAttribute(); a; a = a->Next())
      names.emplace_back(a->Name());
  return names;
}

std::string Element::text() const {
  std::string all;
  if (element_)
    for (const auto* node = element_->FirstChild(); node; node = node->NextSibling())
      if (const tinyxml2::XMLText* text = node->ToText()) all += text->Value();
  return std::string(trimmed(all));
}

std::string Element::description() const {
  if (!element_) return "nothing";
  std::string own = "<" + std::string(tag()) + ">";
  for (Element e = *this; e; e = e.parent()) {
    const char* name = e.attribute("name");
    if (!name) continue;
    const std::string named = std::string(e.tag()) + " '" + name + "'";
    return e == *this ? named : own + " of " + named;
  }
  return own;
}

// Report --------------------------------------------------------------------------------------

void Report::error(const Source& source, std::string message) {
  has_error_ = true;
  found_.push_back({Severity::error, source, std::move(message)});
}

void Report::warning(const Source& source, std::string message) {
  found_.push_back({Severity::warning, source, std::move(message)});
}

void Report::doubtful(const Source& source, std::string message) {
  strict_ ? error(source, std::move(message)) : warning(source, std::move(message));
}

void Report::warning_once(const Source& source, std::string message) {
  if (said_.insert(message).second) warning(source, std::move(message));
}

std::string Report::suggestion(std::string_view word, std::span<const std::string> candidates) {
  constexpr int kMostSuggestions = 100;
  if (++suggestions_ > kMostSuggestions) return {};
  return did_you_mean(word, candidates);
}

// Files ---------------------------------------------------------------------------------------

File::File() : name_(std::make_unique<std::string>()) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::read(const std::string& path, Report& report) {
  std::vector<Diagnostic> problems;
  const std::optional<std::string> text = read_text_file(path, problems);
  if (text) return parse(*text, path, report);
  for (Diagnostic& problem : problems) report.error(problem.source, std::move(problem.message));
  File none;
  *none.name_ = path;
  return none;
}

File File::parse(const std::string& original, const std::string& name, Report& report) {
  File file;
  *file.name_ = name;
  int latin1_line = 0;
  const std::string text = without_latin1(original, latin1_line);
  std::vector<Diagnostic> problems;
  if (!check_text(text, name, problems)) {
    for (Diagnostic& problem : problems) report.error(problem.source, std::move(problem.message));
    return file;
  }
  if (latin1_line > 0)
    report.doubtful({name, latin1_line},
                    "a byte that is not UTF-8 is read as Latin-1; save the file as UTF-8");
  if (const int line = line_too_deep(text); line > 0) {
    report.error({name, line}, "tags are nested more than " + std::to_string(kDeepestNesting) +
                                   " deep; is a closing tag missing?");
    return file;
  }
  file.document_ = std::make_unique<tinyxml2::XMLDocument>();
  tinyxml2::XMLDocument& document = *file.document_;
  document.Parse(text.c_str(), text.size());
  if (document.Error()) {
    report.error({name, std::max(1, document.ErrorLineNum())}, syntax_problem(document));
    return file;
  }
  const tinyxml2::XMLElement* root = document.RootElement();
  if (!root) {
    report.error({name, 1}, "the file has no element in it");
    return file;
  }
  for (const auto* node = document.FirstChild(); node; node = node->NextSibling()) {
    if (node == root || (!node->ToElement() && !node->ToText())) continue;
    report.error({name, node->GetLineNum()}, node->ToText()
                                                 ? "malformed XML: text outside of the root element"
                                                 : "malformed XML: a second root element <" +
                                                       std::string(node->Value()) + "> after </" +
                                                       root->Name() + ">; an XML file has one");
    return file;
  }
  file.root_ = Element(root, file.name_.get());
  return file;
}

// Words ---------------------------------------------------------------------------------------

void check_words(const Element& element, const Vocabulary& vocabulary, const char* format,
                 Report& report) {
  const auto in = [](std::string_view word, const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  std::vector<std::string_view> seen;
  for (Element e = element.child(); e; e = e.next()) {
    const std::string_view tag = e.tag();
    if (in(tag, vocabulary.many)) continue;
    if (in(tag, vocabulary.once)) {
      if (std::find(seen.begin(), seen.end(), tag) != seen.end())
        report.doubtful(e.source(), "a second " + e.description() + "; only the first counts");
      seen.push_back(tag);
      continue;
    }
    if (in(tag, vocabulary.foreign)) continue;
    if (const std::size_t colon = tag.find(':'); colon != std::string_view::npos) {
      report.warning_once(e.source(), "tags of the namespace '" +
                                          std::string(tag.substr(0, colon)) + "' are not part of " +
                                          format + " and are ignored");
      continue;
    }
    std::vector<std::string> known = vocabulary.once;
    known.insert(known.end(), vocabulary.many.begin(), vocabulary.many.end());
    const std::string near = nearest_name(tag, known);
    if (!near.empty())
      report.error(e.source(), "unknown tag <" + std::string(tag) + "> in " +
                                   element.description() + "; did you mean <" + near + ">?");
    else
      report.warning_once(e.source(), "<" + std::string(tag) + "> in <" +
                                          std::string(element.tag()) + "> is not part of " +
                                          format + " and is ignored");
  }
  std::vector<std::string> attributes = element.attribute_names();
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const std::string& name = attributes[i];
    if (std::find(attributes.begin(), attributes.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        attributes.begin() + static_cast<std::ptrdiff_t>(i))
      report.error(element.source(),
                   element.description() + " has the attribute '" + name + "' twice");
    if (in(name, vocabulary.attributes) || name.find(':') != std::string::npos || name == "xmlns")
      continue;
    const std::string near = nearest_name(name, vocabulary.attributes);
    if (!near.empty())
      report.error(element.source(), element.description() + " has an unknown attribute '" + name +
                                         "'; did you mean '" + near + "'?");
    else
      report.warning_once(element.source(), "attribute '" + name + "' of <" +
                                                std::string(element.tag()) + "> is not part of " +
                                                format + " and is ignored");
  }
}

// Numbers -------------------------------------------------------------------------------------

std::optional<std::vector<double>> parse_numbers(std::string_view text, std::size_t count,
                                                 Infinite infinite, const Source& source,
                                                 const std::string& what, Report& report) {
  std::vector<double> values;
  std::size_t words = 0;
  std::size_t i = 0;
  bool good = true;
  while (true) {
    while (i < text.size() && is_space(text[i])) ++i;
    if (i >= text.size()) break;
    std::size_t end = i;
    while (end < text.size() && !is_space(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    i = end;
    if (++words > count) continue;
    const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
    const char* first = word.data() + (plus ? 1 : 0);
    const char* last = word.data() + word.size();
    double value = 0.0;
    const auto [stop, status] = std::from_chars(first, last, value);
    if (status == std::errc::result_out_of_range && stop == last) {
      // Too small for a double is zero, too large is a mistake.
      const std::size_t e = word.find_first_of("eE");
      if (e != std::string_view::npos && word.substr(e + 1).starts_with('-')) {
        value = 0.0;
      } else {
        report.error(source, what + ": " + in_quotes(word) + " is too large");
        good = false;
      }
    } else if (status != std::errc{} || stop != last) {
      report.error(source, what + ": " + in_quotes(word) + " is not a number" +
                               (word.find(',') != std::string_view::npos
                                    ? "; use a decimal point and separate numbers by spaces"
                                    : ""));
      good = false;
    } else if (std::isnan(value) || (std::isinf(value) && infinite == Infinite::refused)) {
      report.error(source, what + ": " + in_quotes(word) + " is not a finite number");
      good = false;
    }
    values.push_back(value);
  }
  if (!good) return std::nullopt;
  if (words != count) {
    report.error(source,
                 what + ": " +
                     (words == 0 ? "is empty"
                                 : in_quotes(trimmed(text)) + " has " + std::to_string(words) +
                                       (words == 1 ? " number" : " numbers")) +
                     ", but " + std::to_string(count) +
                     (words > 0    ? ""
                      : count == 1 ? " number"
                                   : " numbers") +
                     (count == 1 ? " is" : " are") + " needed");
    return std::nullopt;
  }
  return values;
}

namespace {

std::optional<std::vector<double>> attribute_numbers(const Element& element, const char* attribute,
                                                     std::size_t count, Infinite infinite,
                                                     Report& report) {
  return parse_numbers(element.attribute(attribute), count, infinite, element.source(),
                       element.description() + ", attribute '" + attribute + "'", report);
}

std::optional<bool> parse_bool(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  return std::nullopt;
}

}  // namespace

double number_of(const Element& element, const char* attribute, std::optional<double> otherwise,
                 Report& report, Infinite infinite) {
  if (!element.attribute(attribute)) {
    if (!otherwise)
      report.error(element.source(), element.description() + " has no attribute '" + attribute +
                                         "'; it needs " + attribute + "=\"number\"");
    return otherwise.value_or(0.0);
  }
  const auto values = attribute_numbers(element, attribute, 1, infinite, report);
  return values ? (*values)[0] : otherwise.value_or(0.0);
}

Vec3d vector_of(const Element& element, const char* attribute, const Vec3d& otherwise,
                Report& report) {
  if (!element.attribute(attribute)) return otherwise;
  const auto v = attribute_numbers(element, attribute, 3, Infinite::refused, report);
  return v ? Vec3d{(*v)[0], (*v)[1], (*v)[2]} : otherwise;
}

double text_number(const Element& element, double otherwise, Report& report, Infinite infinite) {
  if (!element) return otherwise;
  const auto values =
      parse_numbers(element.text(), 1, infinite, element.source(), element.description(), report);
  return values ? (*values)[0] : otherwise;
}

Vec3d text_vector(const Element& element, const Vec3d& otherwise, Report& report) {
  if (!element) return otherwise;
  const auto v = parse_numbers(element.text(), 3, Infinite::refused, element.source(),
                               element.description(), report);
  return v ? Vec3d{(*v)[0], (*v)[1], (*v)[2]} : otherwise;
}

bool text_bool(const Element& element, bool otherwise, Report& report) {
  if (!element) return otherwise;
  const std::string text = element.text();
  if (const std::optional<bool> value = parse_bool(text)) return *value;
  report.error(element.source(),
               element.description() + ": " + in_quotes(text) + " must be true or false");
  return otherwise;
}

bool bool_of(const Element& element, const char* attribute, bool otherwise, Report& report) {
  const char* text = element.attribute(attribute);
  if (!text) return otherwise;
  if (const std::optional<bool> value = parse_bool(text)) return *value;
  report.error(element.source(), element.description() + ", attribute '" + attribute +
                                     "': " + in_quotes(text) + " must be true or false");
  return otherwise;
}

std::string name_of(const Element& element, Report& report) {
  const char* name = element.attribute("name");
  if (name && !trimmed(name).empty()) return name;
  report.error(element.source(), "<" + std::string(element.tag()) + "> has no name; write <" +
                                     std::string(element.tag()) + " name=\"...\">");
  return {};
}

}  // namespace catena::xml
