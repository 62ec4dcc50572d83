// SPDX-License-Identifier: BSD-3-Clause
// Arguments of the bindings, and how results are handed back.
//
// A State knows its mechanism, so that it can be read and written by name; a Workspace keeps its
// mechanism alive. Vectors over freedoms are arrays or dictionaries by name. Bodies, hinges and
// frames are names or indices. A result goes into `out` if one is given, else into a new array.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "structs.h"

#include "catena/closure/assembly.h"
#include "catena/dynamics/loads.h"
#include "catena/dynamics/workspace.h"
#include "catena/model/mechanism.h"

namespace catena::python {

using MechanismPointer = std::shared_ptr<Mechanism>;

// `State` in Python.
struct NamedState {
  MechanismPointer mechanism;
  State state;

  // As an argument beside a mechanism: refuses states whose numbers mean something else there. The
  // same names are enough: an edited or unpickled copy takes them.
  const State& of(const Mechanism& other) const {
    if (mechanism.get() != &other) check_same_names(other);
    return state;
  }

 private:
  void check_same_names(const Mechanism& other) const;
};

// What calls have left in a workspace; bits.
inline constexpr unsigned kNothing = 0, kDisplacements = 1,          // at the hinges
    kPoses = 2, kVelocities = 4, kAccelerations = 8, kFactors = 16;  // of the mass matrix

// `Workspace` in Python. Its buffers take what Python gives without allocating.
struct PythonWorkspace {
  explicit PythonWorkspace(MechanismPointer of);

  // Throws Error, saying what to call first, unless calls have left all of this.
  void need(unsigned what) const {
    if ((left & what) != what) throw_missing(what & ~left);
  }

  MechanismPointer mechanism;
  Workspace workspace;
  Eigen::VectorXd input;
  unsigned left = kNothing;
  std::atomic<bool> busy{false};

 private:
  [[noreturn]] static void throw_missing(unsigned what);
};

// Holds a workspace for one call: the GIL may be released in it, and two threads must not share
// one.
class Use {
 public:
  explicit Use(PythonWorkspace& workspace) : workspace_(workspace) {
    if (workspace_.busy.exchange(true, std::memory_order_acquire))
      throw Error("this Workspace is in use by another thread; give every thread its own");
  }
  ~Use() { workspace_.busy.store(false, std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  PythonWorkspace& workspace_;
};

// The workspace given, or one made for the call.
class Working {
 public:
  Working(const Mechanism& mechanism, PythonWorkspace* given);
  Workspace& workspace() { return given_ != nullptr ? given_->workspace : *own_; }
  Eigen::VectorXd& input() { return given_ != nullptr ? given_->input : own_input_; }
  // After a call: what it has left in the workspace.
  void has(unsigned what) {
    if (given_ != nullptr) given_->left |= what;
  }

 private:
  PythonWorkspace* given_;
  std::optional<Use> use_;
  std::optional<Workspace> own_;
  Eigen::VectorXd own_input_;
};

// Calls on mechanisms with more freedoms than this let other Python threads run; giving up the GIL
// and taking it back costs about as much as the dynamics of a few bodies.
inline constexpr int kLongCall = 64;
class ReleaseForLong {
 public:
  explicit ReleaseForLong(const Mechanism& mechanism) {
    if (mechanism.freedoms() > kLongCall) release_.emplace();
  }

 private:
  std::optional<py::gil_scoped_release> release_;
};

// Anything Python has; the name is what the stubs call it.
#define CATENA_PYTHON_ARGUMENT(Name)                         \
  struct Name {                                              \
    py::object value{};                                      \
    bool given() const { return value && !value.is_none(); } \
  }
CATENA_PYTHON_ARGUMENT(FreedomVector);   // numbers by freedom: array or dictionary; None: zeros
CATENA_PYTHON_ARGUMENT(PositionVector);  // a State, or q
CATENA_PYTHON_ARGUMENT(BatchVector);     // one row for each state; None: zeros
CATENA_PYTHON_ARGUMENT(Where);           // a Workspace that was updated, a State, or q
CATENA_PYTHON_ARGUMENT(BodyName);        // name or index; "world" or −1: the ground
CATENA_PYTHON_ARGUMENT(HingeName);
CATENA_PYTHON_ARGUMENT(FrameName);
CATENA_PYTHON_ARGUMENT(Freedoms);  // marks freedoms: names, indices, or a mask of booleans
CATENA_PYTHON_ARGUMENT(Wrenches);  // external wrenches
CATENA_PYTHON_ARGUMENT(Out);       // an array for the result
CATENA_PYTHON_ARGUMENT(Pose);      // a Transform, a 4 x 4 array or a translation
CATENA_PYTHON_ARGUMENT(Goals);     // of inverse kinematics: by name, or a list of them
#undef CATENA_PYTHON_ARGUMENT

// By freedom; `what` names it in messages.
void read_freedoms(const FreedomVector& from, const Mechanism& mechanism, const char* what,
                   Eigen::VectorXd& to);
Eigen::VectorXd read_freedoms(const FreedomVector& from, const Mechanism& mechanism,
                              const char* what);
// 1 for each freedom that `from` gives a number: those that a dictionary names, all by an array.
std::vector<std::uint8_t> given_freedoms(const FreedomVector& from, const Mechanism& mechanism);
const Eigen::VectorXd& read_position(const PositionVector& from, const Mechanism& mechanism,
                                     Eigen::VectorXd& buffer);
int read_body(const BodyName& from, const Mechanism& mechanism);
int read_hinge(const HingeName& from, const Mechanism& mechanism);
int read_frame(const FrameName& from, const Mechanism& mechanism);
// 1 for each that is named; empty if none are given.
std::vector<std::uint8_t> read_mask(const Freedoms& from, const Mechanism& mechanism);
std::vector<ExternalWrench> read_wrenches(const Wrenches& from, const Mechanism& mechanism);

// What the caller meant when the loops do not close: what the model gives, and what differs from
// its default state.
GivenFreedoms given_by_state(const Mechanism& mechanism, const State& state);

py::array_t<double> deliver(const Eigen::VectorXd& result, const Out& out);
py::array_t<double> deliver(const Eigen::MatrixXd& result, const Out& out);

// An array that looks into memory which `owner` keeps.
py::array view_of(Eigen::VectorXd& x, py::handle owner);

}  // namespace catena::python

namespace pybind11::detail {

// None is no mechanism: pybind11 would hand over a null pointer.
template <>
struct type_caster<catena::python::MechanismPointer>
    : copyable_holder_caster<catena::Mechanism, catena::python::MechanismPointer> {
  bool load(handle source, bool convert) {
    return !source.is_none() &&
           copyable_holder_caster<catena::Mechanism, catena::python::MechanismPointer>::load(
               source, convert);
  }
};

#define CATENA_PYTHON_ARGUMENT_CASTER(Name)                                          \
  template <>                                                                        \
  struct type_caster<catena::python::Name> {                                         \
    PYBIND11_TYPE_CASTER(catena::python::Name, const_name(#Name));                   \
    bool load(handle source, bool) {                                                 \
      value.value = reinterpret_borrow<object>(source);                              \
      return true;                                                                   \
    }                                                                                \
    static handle cast(const catena::python::Name& x, return_value_policy, handle) { \
      return (x.value ? x.value : object(none())).inc_ref();                         \
    }                                                                                \
  }
CATENA_PYTHON_ARGUMENT_CASTER(FreedomVector);
CATENA_PYTHON_ARGUMENT_CASTER(PositionVector);
CATENA_PYTHON_ARGUMENT_CASTER(BatchVector);
CATENA_PYTHON_ARGUMENT_CASTER(Where);
CATENA_PYTHON_ARGUMENT_CASTER(BodyName);
CATENA_PYTHON_ARGUMENT_CASTER(HingeName);
CATENA_PYTHON_ARGUMENT_CASTER(FrameName);
CATENA_PYTHON_ARGUMENT_CASTER(Freedoms);
CATENA_PYTHON_ARGUMENT_CASTER(Wrenches);
CATENA_PYTHON_ARGUMENT_CASTER(Out);
CATENA_PYTHON_ARGUMENT_CASTER(Pose);
CATENA_PYTHON_ARGUMENT_CASTER(Goals);
#undef CATENA_PYTHON_ARGUMENT_CASTER

}  // namespace pybind11::detail
