"""Builds the extension with the sources of the library in it.

They are in `library/` of a source distribution, and two folders up in the repository.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE / "library"
if not LIBRARY.is_dir():
    LIBRARY = HERE.parent.parent

# As src/CMakeLists.txt has them.
FLAGS = [
    "-std=c11", "-O2", "-ftree-vectorize", "-fvisibility=hidden", "-ffp-contract=off", "-pthread",
    "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DNDEBUG", "-g0",
]  # fmt: skip
FLAGS_OF = {"core/checksum.c": ["-O3"], "kind/cuckoo/cuckoo.c": ["--param=max-inline-insns-single=2000"]}


def version():
    """The version stands in one place, the public header."""
    header = (LIBRARY / "include" / "perhaps.h").read_text()
    return ".".join(re.findall(r"#define PERHAPS_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def includes():
    """Where xxhash.h is, if the compiler does not find it by itself."""
    folder = os.environ.get("XXHASH_INCLUDE_DIR")
    return [folder] if folder else []


class Build(build_ext):
    """Compiles the library with as many processes as there are processors, each file with its flags."""

    def build_extension(self, ext):
        compiler, folder = self.compiler, str(LIBRARY / "src")
        gcc = "clang" not in os.path.basename(compiler.compiler_so[0])
        # base/wasm stands in for files and threads of a system.
        sources = sorted(file for file in (LIBRARY / "src").rglob("*.c") if file.parent.name != "wasm")

        def compile_one(source):
            own = FLAGS_OF.get(source.relative_to(folder).as_posix(), []) if gcc else []
            return compiler.compile(
                [str(source)], output_dir=self.build_temp, include_dirs=[folder, *ext.include_dirs],
                extra_postargs=[*FLAGS, *own, *os.environ.get("CFLAGS", "").split()],
            )  # fmt: skip

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            objects = [name for names in threads.map(compile_one, sources) for name in names]
        ext.extra_objects = objects
        super().build_extension(ext)


class SourceDistribution(sdist):
    """Takes the sources of the library along."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for folder in ("src", "include"):
            shutil.copytree(LIBRARY / folder, os.path.join(base_dir, "library", folder), dirs_exist_ok=True)
        shutil.copy(LIBRARY / "LICENSE", os.path.join(base_dir, "LICENSE"))


extension = Extension(
    "perhaps._perhaps",
    sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.c")),
    depends=["src/binding.h"],
    include_dirs=[str(LIBRARY / "include"), *includes()],
    extra_compile_args=[*FLAGS, "-fno-plt"],
    extra_link_args=["-pthread", f"-Wl,--version-script={HERE / 'exports.map'}"],
    libraries=["m"],
    py_limited_api=True,
)

setup(
    version=version(),
    ext_modules=[extension],
    cmdclass={"build_ext": Build, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
