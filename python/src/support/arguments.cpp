// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.h"

#include <cstring>

#include "catena/base/index.h"
#include "catena/model/configuration.h"

namespace catena::python {

PythonWorkspace::PythonWorkspace(MechanismPointer of)
    : mechanism(std::move(of)), workspace(*mechanism), input(mechanism->freedoms()) {}

void PythonWorkspace::throw_missing(unsigned what) {
  throw Error(
      std::string("this Workspace has no ") +
      ((what & kDisplacements) != 0 ? "position yet: call update_kinematics() with it"
       : (what & kPoses) != 0 ? "poses yet: call update_kinematics() with it, or update_poses()"
       : (what & kVelocities) != 0 ? "velocities yet: call update_kinematics() with a State and it"
       : (what & kAccelerations) != 0 ? "accelerations yet: call update_accelerations() or a "
                                        "dynamics function with it"
                                      : "factors yet: call articulate() with it") +
      " first");
}

void NamedState::check_same_names(const Mechanism& other) const {
  const auto same = [](std::span<const std::string> a, std::span<const std::string> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  if (same(mechanism->position_names(), other.position_names()) &&
      same(mechanism->velocity_names(), other.velocity_names()))
    return;
  throw Error("this State is one of another mechanism ('" + mechanism->name() +
              "'), whose coordinates have other names than those of '" + other.name() +
              "'; make one with State(mechanism, q, v)");
}

Working::Working(const Mechanism& mechanism, PythonWorkspace* given) : given_(given) {
  if (given_ == nullptr) {
    own_.emplace(mechanism);
    return;
  }
  if (given_->mechanism.get() != &mechanism)
    throw Error("this Workspace was made for another mechanism ('" + given_->mechanism->name() +
                "'), not for this '" + mechanism.name() + "'");
  use_.emplace(*given_);
}

namespace {

std::string python_type(py::handle h) {
  return py::cast<std::string>(h.get_type().attr("__name__"));
}

// A plain array of doubles in one piece; null: something else.
const double* plain_data(py::handle h, py::ssize_t& size) {
  if (!py::isinstance<py::array>(h)) return nullptr;
  const auto a = py::reinterpret_borrow<py::array>(h);
  if (a.ndim() != 1 || (a.flags() & py::array::c_style) == 0) return nullptr;
  const py::dtype type = a.dtype();
  if (type.kind() != 'f' || type.itemsize() != sizeof(double) || type.byteorder() == '>')
    return nullptr;
  size = a.shape(0);
  return static_cast<const double*>(a.data());
}

void check_size(py::ssize_t size, py::ssize_t expected, const char* what) {
  if (size != expected)
    throw NumericalError(std::string(what) + " has " + std::to_string(size) +
                         " entries, but this mechanism has " + std::to_string(expected) +
                         (std::string_view(what) == "q" ? " coordinates" : " freedoms"));
}

void read_array(py::handle from, py::ssize_t expected, const char* what, Eigen::VectorXd& to) {
  py::ssize_t size = 0;
  if (const double* data = plain_data(from, size)) {
    check_size(size, expected, what);
    to = Eigen::Map<const Eigen::VectorXd>(data, size);
    return;
  }
  const Array a = numbers(from);
  if (a.ndim() > 1) throw_shape(a, "(" + std::to_string(expected) + ",)");
  check_size(a.size(), expected, what);
  to = Eigen::Map<const Eigen::VectorXd>(a.data(), a.size());
}

// The index that a Python integer means, negative ones not counted from the end.
std::optional<int> integer(py::handle h) {
  if (py::isinstance<py::bool_>(h) || PyIndex_Check(h.ptr()) == 0) return std::nullopt;
  return py::cast<int>(h);
}

int checked(int index, int least, std::size_t count, const char* what) {
  if (index < least || index >= static_cast<int>(count))
    throw NameError("there is no " + std::string(what) + " " + std::to_string(index) +
                    "; this mechanism has " + std::to_string(count));
  return index;
}

std::string dictionary_name(py::handle key, const char* what) {
  if (!py::isinstance<py::str>(key))
    throw py::type_error(std::string(what) + ": a dictionary by name has names as its keys, not " +
                         py::cast<std::string>(py::repr(key)));
  return py::cast<std::string>(key);
}

[[noreturn]] void throw_no_wrench(py::handle source) {
  throw py::type_error(
      "external wrenches are ExternalWrench or dictionaries {\"body\", \"force\", ...}, not " +
      python_type(source));
}

template <class Find>
int named(const py::object& from, int least, std::size_t count, const char* what, Find find) {
  if (py::isinstance<py::str>(from)) return find(py::cast<std::string>(from));
  if (const std::optional<int> index = integer(from)) return checked(*index, least, count, what);
  throw py::type_error("the name of a " + std::string(what) + " is expected, or its index, not " +
                       python_type(from));
}

// A hinge that has a place in the state.
const HingePlace& moving_hinge(const Mechanism& m, const std::string& name) {
  const HingePlace& hinge = m.hinges()[index(m.hinge_index(name))];
  if (hinge.node < 0)
    throw NameError("hinge '" + name + "' has no freedoms of its own: it " +
                    (hinge.role == HingePlace::Role::weld
                         ? "is rigid"
                         : "closes a loop, and follows the others; with_coordinates() gives it "
                           "some"));
  return hinge;
}

// `count` numbers of `name` into their place.
void read_entries(Eigen::VectorXd& to, int first, int count, py::handle value, const char* what,
                  const std::string& name) {
  const Array a = numbers(value);
  if (a.ndim() > 1 || a.size() != count)
    throw NumericalError(std::string(what) + " of '" + name + "' has " + std::to_string(a.size()) +
                         " entries, but " + std::to_string(count) +
                         (count == 1 ? " is expected" : " are expected"));
  to.segment(first, count) = Eigen::Map<const Eigen::VectorXd>(a.data(), a.size());
}

}  // namespace

void read_freedoms(const FreedomVector& from, const Mechanism& mechanism, const char* what,
                   Eigen::VectorXd& to) {
  const int n = mechanism.freedoms();
  if (!from.given()) {
    to.setZero(n);
  } else if (py::isinstance<py::dict>(from.value)) {
    to.setZero(n);
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(from.value)) {
      const std::string name = dictionary_name(key, what);
      if (mechanism.has_hinge(name)) {  // all freedoms of a hinge
        const HingePlace& hinge = moving_hinge(mechanism, name);
        read_entries(to, hinge.v_index, hinge.freedoms, value, what, name);
      } else {
        read_entries(to, mechanism.velocity_index(name), 1, value, what, name);
      }
    }
  } else {
    read_array(from.value, n, what, to);
  }
}

Eigen::VectorXd read_freedoms(const FreedomVector& from, const Mechanism& mechanism,
                              const char* what) {
  Eigen::VectorXd to;
  read_freedoms(from, mechanism, what, to);
  return to;
}

std::vector<std::uint8_t> given_freedoms(const FreedomVector& from, const Mechanism& mechanism) {
  if (!from.given()) return {};
  if (!py::isinstance<py::dict>(from.value))
    return std::vector<std::uint8_t>(to_size(mechanism.freedoms()), 1);
  return read_mask({from.value.attr("keys")()}, mechanism);
}

const Eigen::VectorXd& read_position(const PositionVector& from, const Mechanism& mechanism,
                                     Eigen::VectorXd& buffer) {
  if (py::isinstance<NamedState>(from.value))
    return py::cast<NamedState&>(from.value).of(mechanism).q;
  if (!from.given()) return mechanism.default_state().q;
  if (!py::isinstance<py::dict>(from.value)) {
    read_array(from.value, mechanism.coordinates(), "q", buffer);
    return buffer;
  }
  buffer = mechanism.default_state().q;
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(from.value)) {
    const std::string given = dictionary_name(key, "q");
    const std::string name = given.starts_with("q.") ? given.substr(2) : given;
    if (mechanism.has_hinge(name)) {
      const HingePlace& hinge = moving_hinge(mechanism, name);
      read_entries(buffer, hinge.q_index, hinge.coordinates, value, "q", name);
    } else {
      read_entries(buffer, mechanism.position_index(name), 1, value, "q", name);
    }
  }
  return buffer;
}

int read_body(const BodyName& from, const Mechanism& m) {
  return named(from.value, -1, m.bodies().size(), "body",
               [&](const std::string& name) { return m.body_index(name); });
}
int read_hinge(const HingeName& from, const Mechanism& m) {
  return named(from.value, 0, m.hinges().size(), "hinge",
               [&](const std::string& name) { return m.hinge_index(name); });
}
int read_frame(const FrameName& from, const Mechanism& m) {
  return named(from.value, 0, m.frames().size(), "frame",
               [&](const std::string& name) { return m.frame_index(name); });
}

std::vector<std::uint8_t> read_mask(const Freedoms& from, const Mechanism& m) {
  if (!from.given()) return {};
  const std::size_t n = to_size(m.freedoms());
  std::vector<std::uint8_t> mask(n, 0);
  if (py::isinstance<py::array>(from.value) &&
      py::reinterpret_borrow<py::array>(from.value).dtype().kind() == 'b') {
    const auto a = py::array_t<bool>::ensure(from.value);
    check_size(a.size(), static_cast<py::ssize_t>(n), "the mask");
    for (std::size_t i = 0; i < n; ++i) mask[i] = a.at(static_cast<py::ssize_t>(i)) ? 1 : 0;
    return mask;
  }
  if (py::isinstance<py::sequence>(from.value) && !py::isinstance<py::str>(from.value)) {
    const auto list = py::reinterpret_borrow<py::sequence>(from.value);
    std::size_t flags = 0;
    for (const py::handle entry : list) flags += py::isinstance<py::bool_>(entry) ? 1 : 0;
    if (flags > 0 && flags == list.size()) {
      check_size(static_cast<py::ssize_t>(flags), static_cast<py::ssize_t>(n), "the mask");
      for (std::size_t i = 0; i < n; ++i) mask[i] = py::cast<bool>(list[i]) ? 1 : 0;
      return mask;
    }
  }
  const auto mark = [&](py::handle entry) {
    if (!py::isinstance<py::str>(entry)) {
      mask[index(named(py::reinterpret_borrow<py::object>(entry), 0, n, "freedom",
                       [](const std::string&) { return 0; }))] = 1;
      return;
    }
    const std::string name = py::cast<std::string>(entry);
    if (m.has_hinge(name)) {
      const HingePlace& h = m.hinges()[index(m.hinge_index(name))];
      if (h.role == HingePlace::Role::cut) (void)moving_hinge(m, name);  // rigid ones do not matter
      for (int i = 0; i < h.freedoms; ++i) mask[index(h.v_index + i)] = 1;
    } else {
      mask[index(m.velocity_index(name))] = 1;
    }
  };
  if (py::isinstance<py::str>(from.value)) {
    mark(from.value);
  } else {
    if (!py::isinstance<py::iterable>(from.value))
      throw py::type_error("freedoms are names, indices or a mask of booleans, not " +
                           python_type(from.value));
    for (const py::handle entry : py::iter(from.value)) mark(entry);
  }
  return mask;
}

std::vector<ExternalWrench> read_wrenches(const Wrenches& from, const Mechanism& mechanism) {
  std::vector<ExternalWrench> result;
  if (!from.given()) return result;
  const auto add = [&](py::handle entry) {
    if (!py::isinstance<py::dict>(entry)) {
      if (!py::isinstance<ExternalWrench>(entry)) throw_no_wrench(entry);
      result.push_back(py::cast<ExternalWrench>(entry));
      return;
    }
    ExternalWrench& wrench = result.emplace_back();
    bool has_body = false;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(entry)) {
      const std::string name = dictionary_name(key, "an external wrench");
      if (name == "body") {
        wrench.body = read_body({py::reinterpret_borrow<py::object>(value)}, mechanism);
        has_body = true;
      } else if (name == "force") {
        wrench.wrench.force = to_vec3(value);
      } else if (name == "moment") {
        wrench.wrench.moment = to_vec3(value);
      } else if (name == "point") {
        wrench.point = to_vec3(value);
      } else if (name == "axes") {
        wrench.axes = choice_from<ExternalWrench::Axes>(value);
      } else {
        throw_unknown_field("an external wrench", name,
                            {"body", "force", "moment", "point", "axes"});
      }
    }
    if (!has_body) throw py::value_error("an external wrench needs its body: {\"body\": ...}");
  };
  if (py::isinstance<py::dict>(from.value) || py::isinstance<ExternalWrench>(from.value))
    add(from.value);
  else if (!py::isinstance<py::iterable>(from.value) || py::isinstance<py::str>(from.value))
    throw_no_wrench(from.value);
  else
    for (const py::handle entry : py::iter(from.value)) add(entry);
  return result;
}

GivenFreedoms given_by_state(const Mechanism& mechanism, const State& state) {
  const State& usual = mechanism.default_state();
  const Eigen::VectorXd moved = difference(mechanism, usual.q, state.q);
  GivenFreedoms given = given_by_description(mechanism);
  for (Eigen::Index i = 0; i < moved.size(); ++i) {
    if (moved[i] != 0.0) given.position[index(i)] = 1;
    if (state.v[i] != usual.v[i]) given.velocity[index(i)] = 1;
  }
  return given;
}

namespace {

py::array checked_out(const Out& out, std::vector<py::ssize_t> shape) {
  if (!py::isinstance<py::array>(out.value)) throw py::type_error("out must be a NumPy array");
  auto a = py::reinterpret_borrow<py::array>(out.value);
  if (a.dtype().kind() != 'f' || a.dtype().itemsize() != sizeof(double))
    throw py::value_error("out must be an array of float64, not of " +
                          py::cast<std::string>(py::str(a.dtype())));
  bool fits = a.ndim() == static_cast<py::ssize_t>(shape.size());
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = a.shape(static_cast<py::ssize_t>(i)) == shape[i];
  if (!fits) {
    std::string expected;
    for (const py::ssize_t n : shape)
      expected += (expected.empty() ? "" : ", ") + std::to_string(n);
    throw py::value_error("out must have the shape (" + expected +
                          (shape.size() == 1 ? ",)" : ")") + ", not " + shape_text(a));
  }
  if (!a.writeable()) throw py::value_error("out is read-only");
  return a;
}

}  // namespace

py::array_t<double> deliver(const Eigen::VectorXd& result, const Out& out) {
  if (!out.given()) return to_numpy(result);
  py::array a = checked_out(out, {result.size()});
  char* data = static_cast<char*>(a.mutable_data());
  for (Eigen::Index i = 0; i < result.size(); ++i)
    std::memcpy(data + i * a.strides(0), &result[i], sizeof(double));
  return py::reinterpret_borrow<py::array_t<double>>(out.value);
}

py::array_t<double> deliver(const Eigen::MatrixXd& result, const Out& out) {
  if (!out.given()) return matrix_to_numpy(result);
  py::array a = checked_out(out, {result.rows(), result.cols()});
  char* data = static_cast<char*>(a.mutable_data());
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index j = 0; j < result.cols(); ++j)
      std::memcpy(data + i * a.strides(0) + j * a.strides(1), &result(i, j), sizeof(double));
  return py::reinterpret_borrow<py::array_t<double>>(out.value);
}

py::array view_of(Eigen::VectorXd& x, py::handle owner) {
  return py::array_t<double>({x.size()}, {static_cast<py::ssize_t>(sizeof(double))}, x.data(),
                             owner);
}

void throw_unknown_field(const std::string& type, const std::string& field,
                         const std::vector<std::string>& known) {
  const std::string hint = did_you_mean(field, known);
  throw py::type_error(type + " has no '" + field + "'" +
                       (hint.empty() ? "; it has " + listed(known) : hint));
}

}  // namespace catena::python
