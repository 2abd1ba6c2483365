// Bitmaps of 64-bit ids by libroaring's C++ class Roaring64Map, in the portable 64-bit layout.
//   other_cpp write FILE [plain]   the ids of standard input, with runs unless plain
//   other_cpp read FILE            its ids, one a line
#include <roaring/roaring64map.hh>

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

static int write_ids(const char *path, bool with_runs) {
    Roaring64Map bitmap;
    for (uint64_t id; std::cin >> id;) bitmap.add(id);
    if (with_runs) bitmap.runOptimize();
    std::string bytes(bitmap.getSizeInBytes(), '\0');
    bitmap.write(&bytes[0]);
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    return file.flush() ? 0 : 1;
}

static int read_ids(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Roaring64Map bitmap = Roaring64Map::readSafe(bytes.data(), bytes.size());
    if (bitmap.getSizeInBytes() != bytes.size()) return 1;
    for (uint64_t id : bitmap) std::cout << id << '\n';
    return 0;
}

int main(int argc, char **argv) {
    if (argc >= 3 && std::strcmp(argv[1], "write") == 0) return write_ids(argv[2], argc == 3);
    return argc == 3 && std::strcmp(argv[1], "read") == 0 ? read_ids(argv[2]) : 2;
}
