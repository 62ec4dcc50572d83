// SPDX-License-Identifier: BSD-3-Clause
// Flexible bodies by matrices in YAML, in the file and beside it, and what is said of mistakes in
// them and in beams.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/io/models/matrix_file.h"
#include "catena/io/models/yaml.h"
#include "catena/io/runs/hdf5.h"
#include "catena/io/testing/edited_text.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

using testing::HasSubstr;
using testing::Not;

// A mass of 2 kg on three springs.
constexpr const char* kAntenna = R"(catena: 1
bodies:
  antenna:
    flexible:
      matrices:
        nodes: [[0, 0, 0], [1.2, 0, 0]]
        mass: [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0],
               [0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 2]]
        stiffness: [[900, 0, 0, -900, 0, 0], [0, 60, 0, 0, -60, 0], [0, 0, 80, 0, 0, -80],
                    [-900, 0, 0, 900, 0, 0], [0, -60, 0, 0, 60, 0], [0, 0, -80, 0, 0, 80]]
        clamped_nodes: [0]
      modes: 3
      damping: 0.01
      model: inconsistent
hinges:
  gimbal: {type: revolute, parent: world, child: antenna, axis: z}
)";

constexpr const char* kBeam = R"(catena: 1
bodies:
  boom:
    flexible:
      length: 2
      section: {shape: circle, radius: 0.01}
      material: {youngs_modulus: 7e10, poisson_ratio: 0.3, density: 2700}
      attachments: {tip: 1.0}
      modes: 8
  load: {mass: 1, inertia: [0.1, 0.1, 0.1]}
hinges:
  root: {type: revolute, parent: world, child: boom, axis: [0, 1, 0]}
  grip: {type: revolute, parent: boom.tip, child: load, axis: [0, 1, 0]}
)";

std::string folder() {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "catena_matrices_test";
  std::filesystem::create_directories(path);
  return path.string();
}

std::string matrices_messages(const std::string& text) {
  std::string all;
  const Reading reading = read_yaml_text(text, folder() + "/model.yaml");
  for (const Diagnostic& d : reading.diagnostics) all += d.text() + "\n";
  if (!all.empty()) return all;
  try {
    const Mechanism m = MechanismBuilder(reading.description).finish();
    for (const Diagnostic& d : m.warnings()) all += d.text() + "\n";
  } catch (const ModelError& e) {
    for (const Diagnostic& d : e.problems()) all += d.text() + "\n";
  }
  return all;
}

void expect_antenna(const std::string& text) {
  const Reading reading = read_yaml_text(text, folder() + "/model.yaml");
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  const Mechanism m = MechanismBuilder(reading.description).finish();
  ASSERT_EQ(m.flexible_bodies().size(), 1u);
  const FlexibleBody& b = *m.flexible_bodies()[0].constants;
  EXPECT_DOUBLE_EQ(b.mass, 3.0);
  EXPECT_NEAR(b.mass_moment.x, 2.0 * 1.2, 1e-12);
  const Eigen::VectorXd frequencies = b.frequencies();
  EXPECT_NEAR(frequencies[0], std::sqrt(60.0 / 2.0), 1e-10);
  EXPECT_NEAR(frequencies[1], std::sqrt(80.0 / 2.0), 1e-10);
  EXPECT_NEAR(frequencies[2], std::sqrt(900.0 / 2.0), 1e-10);
  EXPECT_NEAR(b.damping(0, 0), 2.0 * 0.01 * frequencies[0] * b.modal_mass(0, 0), 1e-10);
}

TEST(YamlMatrices, ReadsAndWritesThem) {
  expect_antenna(kAntenna);
  const std::string written = write_yaml(read_yaml_text(kAntenna, "a.yaml").description);
  expect_antenna(written);
  EXPECT_EQ(write_yaml(read_yaml_text(written, "b.yaml").description), written);
}

TEST(YamlMatrices, FilesBesideTheModel) {
  std::ofstream(folder() + "/m.mtx")
      << "%%MatrixMarket matrix coordinate real symmetric\n"
         "% a comment\n6 6 6\n1 1 1\n2 2 1\n3 3 1\n4 4 2\n5 5 2\n6 6 2\n";
  {
    const hdf5::Quiet quiet;
    const hdf5::Handle file(
        H5Fcreate((folder() + "/k.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t size[2] = {6, 6};
    const hdf5::Handle space(H5Screate_simple(2, size, nullptr), H5Sclose);
    const hdf5::Handle data(H5Dcreate2(file.get(), "stiffness", H5T_NATIVE_DOUBLE, space.get(),
                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                            H5Dclose);
    double k[36] = {};
    const double each[3] = {900, 60, 80};
    for (int i = 0; i < 3; ++i) {
      k[7 * i] = k[7 * (i + 3)] = each[i];
      k[6 * i + i + 3] = k[6 * (i + 3) + i] = -each[i];
    }
    ASSERT_GE(H5Dwrite(data.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, k), 0);
  }
  const std::string text(kAntenna);
  const std::size_t mass = text.find("mass: ["), clamped = text.find("clamped_nodes");
  const std::string beside =
      text.substr(0, mass) +
      "mass: m.mtx\n        stiffness: {file: k.h5, dataset: stiffness}\n        " +
      text.substr(clamped);
  expect_antenna(beside);
  EXPECT_THAT(matrices_messages(test::with(beside, "m.mtx", "missing.mtx")),
              HasSubstr("cannot be opened"));
  EXPECT_THAT(matrices_messages(test::with(beside, "dataset: stiffness", "dataset: mass")),
              HasSubstr("mass"));
  EXPECT_THAT(matrices_messages(test::with(beside, "m.mtx", "m.txt")), HasSubstr(".mtx"));
}

TEST(MatrixMarket, Forms) {
  const auto read = [](const std::string& text) {
    const std::string path = folder() + "/form.mtx";
    std::ofstream(path) << text;
    return read_matrix_file(path);
  };
  const Eigen::MatrixXd array = read("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  EXPECT_EQ(array(1, 0), 2.0);  // column by column
  EXPECT_EQ(array(0, 1), 3.0);
  EXPECT_EQ(read("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")(0, 1), 2.0);
  const auto complaint = [&](const std::string& text) {
    try {
      read(text);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint("hello\n"), HasSubstr("form.mtx:1: is no Matrix Market file"));
  EXPECT_THAT(complaint("%%MatrixMarket matrix coordinate complex general\n1 1 1\n"),
              HasSubstr("complex"));
  EXPECT_THAT(complaint("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n"),
              HasSubstr("form.mtx:3: names row 3"));
  EXPECT_THAT(complaint("%%MatrixMarket matrix array real general\n2 2\n1\n2\n"),
              HasSubstr("ends too early"));
}

TEST(YamlMatrices, MistakesAreNamed) {
  EXPECT_THAT(
      matrices_messages(test::with(kAntenna, "[0, 60, 0, 0, -60, 0]", "[0, 60, 0, 0, -50, 0]")),
      HasSubstr("stiffness matrix that is not symmetric: entries (2, 5)"));
  EXPECT_THAT(
      matrices_messages(test::with(kAntenna, "[0, -60, 0, 0, 60, 0]", "[0, -60, 0, 0, -60, 0]")),
      HasSubstr("indefinite stiffness"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "clamped_nodes: [0]", "clamped_nodes: []")),
              HasSubstr("rigid motion"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "clamped_nodes: [0]", "clamped_nodes: [2]")),
              HasSubstr("node 2 outside the body"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "modes: 3", "modes: 0")),
              HasSubstr("no modes"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "      model: inconsistent\n", "")),
              HasSubstr("geometric stiffness"));
  EXPECT_THAT(
      matrices_messages(test::with(kAntenna, "      modes: 3", "      length: 2\n      modes: 3")),
      HasSubstr("'length:', which is a word of beams"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "nodes: [[0, 0, 0], [1.2, 0, 0]]",
                                           "nodes: [[0, 0], [1, 0]]")),
              HasSubstr("three coordinates"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "[0, 1, 0, 0, 0, 0]", "[0, 1, 0]")),
              HasSubstr("3 numbers in row 2"));
  EXPECT_THAT(matrices_messages(test::with(kAntenna, "damping: 0.01", "damping: 1.5")),
              HasSubstr("above critical"));
}

TEST(YamlFlexible, AMistakeInABeamHasNoFollowers) {
  EXPECT_EQ(matrices_messages(kBeam), "");
  for (const auto& [from, to, expected] :
       {std::tuple{"length: 2", "length: -2", "length -2"},
        std::tuple{"poisson_ratio: 0.3", "poisson_ratio: 0.7", "poisson_ratio 0.7"},
        std::tuple{"density: 2700", "density: -1", "density -1"},
        std::tuple{"modes: 8", "modes: 100000", "asks for 100000 modes"},
        std::tuple{"tip: 1.0", "tip: 2.5", "outside the body"},
        std::tuple{"radius: 0.01", "radios: 0.01", "radios"}}) {
    const std::string all = matrices_messages(test::with(kBeam, from, to));
    EXPECT_THAT(all, HasSubstr(expected));
    EXPECT_THAT(all, Not(HasSubstr("boom.tip' does not exist"))) << all;
    EXPECT_THAT(all, Not(HasSubstr("moves no inertia"))) << all;
  }
}

}  // namespace
}  // namespace catena
