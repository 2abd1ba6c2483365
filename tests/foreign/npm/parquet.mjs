// Parquet's Bloom filters by hyparquet and hyparquet-writer. TYPE is a --key of perhaps, KEYS a
// file with a key per line.
//
//   node parquet.mjs make FILTER TYPE BYTES KEYS   a filter of BYTES bytes, written to a file
//   node parquet.mjs query FILTER TYPE KEYS        the keys that may be in it, to stdout
//   node parquet.mjs whole FILE TYPE KEYS          a Parquet file of one column, with a filter
import { readFileSync, writeFileSync } from "node:fs";
import { hashParquetValue, readBloomFilter, sbbfContains } from "hyparquet/src/bloom.js";
import { ByteWriter, parquetWriteFile } from "hyparquet-writer";
import { sbbfInsert, writeBloomFilter } from "hyparquet-writer/src/bloom.js";

const types = {
  bytes: { column: "STRING", element: { type: "BYTE_ARRAY", converted_type: "UTF8" }, value: String },
  int32: { column: "INT32", element: { type: "INT32" }, value: Number },
  int64: { column: "INT64", element: { type: "INT64" }, value: BigInt },
};

const linesOf = (file) => readFileSync(file, "utf8").split("\n").slice(0, -1);
const hash = (type, line) => hashParquetValue(types[type].value(line), types[type].element);

function make(filter, type, bytes, keys) {
  const blocks = new Uint32Array(bytes / 4);
  for (const line of linesOf(keys)) sbbfInsert(blocks, hash(type, line));
  const writer = new ByteWriter();
  writeBloomFilter(writer, blocks);
  writeFileSync(filter, writer.getBytes());
}

function query(filter, type, keys) {
  const file = readFileSync(filter);
  const reader = { view: new DataView(file.buffer, file.byteOffset, file.length), offset: 0 };
  const { blocks } = readBloomFilter(reader);
  if (reader.offset !== file.length) throw new Error(`${filter}: the filter ends before the file does`);
  console.log(linesOf(keys).filter((line) => sbbfContains(blocks, hash(type, line))).join("\n"));
}

function whole(filename, type, keys) {
  const data = linesOf(keys).map(types[type].value);
  const column = { name: "id", type: types[type].column, data, bloomFilter: true };
  parquetWriteFile({ filename, columnData: [column], rowGroupSize: data.length });
}

const [verb, ...words] = process.argv.slice(2);
({ make, query, whole })[verb](...words);
