// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/files/system_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using testing::AllOf;
using testing::HasSubstr;

StateSpace everything() {
  StateSpace g = test::random_system(1, 3, 2, 2, 0.01);
  g.A(0, 0) = 1.0 / 3.0;
  g.E = Eigen::Matrix3d{{1.0, 0.5, 0.0}, {0.0, 2.0, 0.0}, {0.0, 0.0, 1e-30}};
  g.states = {"q.arm", "v \"arm\"", "Größe: 3"};
  g.inputs = {"torque", "a, b"};
  g.outputs = {"tip", "no"};
  g.state_units = {"rad", "rad/s", ""};
  g.input_units = {"N m", "V"};
  g.output_units = {"m", "m"};
  g.input_delay = Eigen::Vector2d(0.02, 0.0);
  g.output_delay = Eigen::Vector2d(0.0, 0.01);
  SystemPoint point;
  point.mechanism = "arm";
  point.q = Eigen::Vector2d(0.1, -0.2);
  point.v = Eigen::Vector2d::Zero();
  point.x0 = Eigen::Vector3d(1.0, 2.0, 3.0);
  point.u0 = Eigen::Vector2d(4.0, 5.0);
  point.y0 = Eigen::Vector2d(6.0, 7.0);
  g.point = point;
  return g;
}

void expect_equal(const StateSpace& a, const StateSpace& b) {
  EXPECT_EQ(a.A, b.A);
  EXPECT_EQ(a.B, b.B);
  EXPECT_EQ(a.C, b.C);
  EXPECT_EQ(a.D, b.D);
  EXPECT_EQ(a.E, b.E);
  EXPECT_EQ(a.dt, b.dt);
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.state_units, b.state_units);
  EXPECT_EQ(a.input_units, b.input_units);
  EXPECT_EQ(a.output_units, b.output_units);
  EXPECT_EQ(a.input_delay, b.input_delay);
  EXPECT_EQ(a.output_delay, b.output_delay);
  ASSERT_EQ(a.point.has_value(), b.point.has_value());
  if (!a.point) return;
  EXPECT_EQ(a.point->mechanism, b.point->mechanism);
  EXPECT_EQ(a.point->q, b.point->q);
  EXPECT_EQ(a.point->v, b.point->v);
  EXPECT_EQ(a.point->x0, b.point->x0);
  EXPECT_EQ(a.point->u0, b.point->u0);
  EXPECT_EQ(a.point->y0, b.point->y0);
}

TEST(SystemFile, EveryFieldComesBack) {
  const test::TemporaryFolder folder;
  for (const char* name : {"g.yaml", "g.h5"}) {
    save_system(everything(), folder.path(name));
    expect_equal(load_system(folder.path(name)), everything());
    const StateSpace gain = ss(Eigen::MatrixXd::Ones(2, 3));
    save_system(gain, folder.path(name));
    expect_equal(load_system(folder.path(name)), gain);
    const StateSpace plain = test::random_system(2, 4, 1, 2);
    save_system(plain, folder.path(name));
    expect_equal(load_system(folder.path(name)), plain);
  }
}

std::string complaint_about(const std::string& text) {
  try {
    system_from_yaml(text, "plant.yaml");
  } catch (const ModelError& e) {
    return e.what();
  }
  return "";
}

TEST(SystemFile, WrittenByHand) {
  const StateSpace g = system_from_yaml(
      "A: [[0, 1], [-4, -0.4]]\nB:\n  - [0]\n  - [1/2]\nC: [[1, 0]]\nstates: [angle, rate]\n",
      "plant.yaml");
  EXPECT_EQ(g.B(1, 0), 0.5);
  EXPECT_EQ(g.D.size(), 1);
  EXPECT_EQ(g.inputs, std::vector<std::string>{"u1"});
}

TEST(SystemFile, MistakesHaveFileAndLine) {
  EXPECT_THAT(complaint_about("A: [[0, 1],\n    [-4]]\nB: [[0], [1]]\nC: [[1, 0]]\n"),
              HasSubstr("plant.yaml:2"));
  EXPECT_THAT(complaint_about("A: [[1]]\nB: [[1]]\nC: [[x]]\n"), HasSubstr("plant.yaml:3"));
  EXPECT_THAT(complaint_about("A: [[1]]\nB: [[1]]\nC: [[1]]\nsates: [a]\n"), HasSubstr("'states'"));
  EXPECT_THAT(complaint_about("A: [[1]]\nB: [[1], [2]]\nC: [[1]]\n"), HasSubstr("B is 2 x 1"));
  EXPECT_THAT(complaint_about("A: [[1]]\nB: [[1]]\n"), HasSubstr("needs C"));
  EXPECT_THAT(complaint_about("A: [[1, 2],\n    [3, .nan]]\nB: [[1], [1]]\nC: [[1, 0]]\n"),
              AllOf(HasSubstr("plant.yaml:2"), HasSubstr("A: entry (2, 2)"), HasSubstr(".nan")));
  EXPECT_THAT(complaint_about("A: [[1]]\nB: [[1]]\nC: [[1]]\ndt: -1\n"),
              AllOf(HasSubstr("plant.yaml:4"), HasSubstr("dt is -1 s")));
  EXPECT_THAT(complaint_about("A: [[1]]\nB: [[1, 2]]\nC: [[1]]\ninputs: [u, u]\n"),
              AllOf(HasSubstr("plant.yaml:4"), HasSubstr("'u' appears twice")));
  EXPECT_THAT(complaint_about("A: [[1, 0], [0, 1]]\nB: [[1], [2]]\nC: [[1]]\n"),
              AllOf(HasSubstr("plant.yaml:3"), HasSubstr("C is 1 x 1")));
  EXPECT_THAT(complaint_about("linear system: 7\nD: [[1]]\n"), HasSubstr("version 7"));
  EXPECT_THAT(complaint_about(""), HasSubstr("plant.yaml"));
  EXPECT_THAT(complaint_about("- 1\n- 2\n"), HasSubstr("plant.yaml:1"));
  EXPECT_THAT(complaint_about("dt: 0.1\n"), HasSubstr("needs A"));
  EXPECT_THAT(complaint_about("D: [[1]]\noperating point: {q: 3}\n"), HasSubstr("plant.yaml:2"));
}

TEST(SystemFile, DamagedAndForeignFiles) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(load_system(folder.write("a.h5", "no HDF5")), Error);
  EXPECT_THROW(load_system(folder.path("missing.h5")), Error);
  EXPECT_THROW(load_system(folder.path("missing.yaml")), ModelError);
  EXPECT_THROW(load_system(folder.path("a.txt")), Error);
  EXPECT_THROW(save_system(everything(), folder.path("no such folder/a.yaml")), Error);
  EXPECT_THROW(save_system(everything(), folder.path("no such folder/a.h5")), Error);
  // Every part of a file is missing in turn: an error, never a crash.
  save_system(everything(), folder.path("whole.h5"));
  std::ifstream in(folder.path("whole.h5"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 0; size + 8 < bytes.size(); size += 97)
    EXPECT_THROW(load_system(folder.write("cut.h5", bytes.substr(0, size))), Error) << size;
}

// Octave reads the same numbers, with rows and columns exchanged.
TEST(SystemFile, OctaveReadsIt) {
  if (std::system("octave-cli --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "Octave is not installed";
  const test::TemporaryFolder folder;
  save_system(everything(), folder.path("g.h5"));
  const std::string script = "load('" + folder.path("g.h5") +
                             "'); A = A.'; "
                             "exit(!(isequal(size(A), [3 3]) && abs(A(1,1) - 1/3) < 1e-16 && "
                             "isequal(size(B.'), [3 2]) && dt == 0.01 && u0(2) == 5))";
  EXPECT_EQ(std::system(("octave-cli --no-gui --quiet --eval \"" + script + "\"").c_str()), 0);
}

TEST(SystemFile, PythonReadsIt) {
  // The system's Python may have h5py where another one in the path has not.
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (python.empty() &&
        std::system((std::string(candidate) + " -c 'import h5py' > /dev/null 2>&1").c_str()) == 0)
      python = candidate;
  if (python.empty()) GTEST_SKIP() << "h5py is not installed";
  const test::TemporaryFolder folder;
  save_system(everything(), folder.path("g.h5"));
  const std::string script =
      "import h5py; f = h5py.File('" + folder.path("g.h5") +
      "'); "
      "assert f['A'].shape == (3, 3) and f['B'].shape == (3, 2) and f['A'][0, 0] == 1/3 and "
      "f['dt'][()] == 0.01; "
      "assert list(f.attrs['inputs']) == ['torque', 'a, b'] and f.attrs['states'][2] == 'Größe: 3'";
  EXPECT_EQ(std::system((python + " -c \"" + script + "\"").c_str()), 0);
}

}  // namespace
}  // namespace catena
