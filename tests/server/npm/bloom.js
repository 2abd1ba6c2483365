// The npm client `redis` and its own bloom commands: node bloom.js PORT PROTOCOL LAYOUT
"use strict";
const assert = require("node:assert/strict");
const { createClient, RESP_TYPES } = require("redis");

const [port, protocol, layout] = process.argv.slice(2);

// A client that hands bulk strings over as they are, for chunks.
function connect(raw) {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, RESP: Number(protocol) });
  const typed = raw ? client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) : client;
  return client.connect().then(() => [client, typed]);
}

async function bloom(client) {
  assert.equal(await client.bf.reserve("b", 0.01, 1000, { EXPANSION: 4 }), "OK");
  assert.equal(await client.bf.reserve("fixed", 0.01, 1000, { NONSCALING: true }), "OK");
  await assert.rejects(client.bf.reserve("b", 0.01, 1000), /item exists/);
  assert.equal(await client.bf.add("b", "one"), true);
  assert.equal(await client.bf.add("b", "one"), false);
  assert.deepEqual(await client.bf.mAdd("b", ["one", "two"]), [false, true]);
  assert.deepEqual(await client.bf.insert("b", ["two", "three"], { CAPACITY: 10, ERROR: 0.1 }), [false, true]);
  assert.equal(await client.bf.exists("b", "one"), true);
  assert.equal(await client.bf.exists("b", "absent"), false);
  assert.deepEqual(await client.bf.mExists("b", ["one", "absent"]), [true, false]);
  assert.equal(await client.bf.card("b"), 3);
  const info = await client.bf.info("b");
  assert.equal(info["Number of items inserted"], 3);
  assert.equal(info["Expansion rate"], 4);
  assert.equal((await client.bf.info("fixed"))["Expansion rate"], null);
}

async function cuckoo(client) {
  assert.equal(await client.cf.reserve("c", 1000, { BUCKETSIZE: 4, MAXITERATIONS: 30, EXPANSION: 2 }), "OK");
  assert.equal(await client.cf.add("c", "one"), true);
  assert.equal(await client.cf.addNX("c", "one"), false);
  assert.deepEqual(await client.cf.insert("c", ["one", "two"], { CAPACITY: 100 }), [true, true]);
  assert.deepEqual((await client.cf.insertNX("c", ["two", "three"])).map(Boolean), [false, true]);
  assert.equal(await client.cf.count("c", "one"), 2);
  assert.equal(await client.cf.del("c", "one"), true);
  assert.equal(await client.cf.exists("c", "one"), true);
  assert.equal(await client.cf.exists("c", "absent"), false);
  const info = await client.cf.info("c");
  assert.equal(info["Bucket size"], 4);
  assert.equal(info["Number of items deleted"], 1);
}

// What SCANDUMP gives, LOADCHUNK takes.
async function chunks(verbs, from, to) {
  let iterator = 0;
  for (;;) {
    const reply = await verbs.scanDump(from, iterator);
    iterator = reply.iterator;
    if (iterator === 0) return;
    assert.equal(String(await verbs.loadChunk(to, iterator, reply.chunk)), "OK");
  }
}

async function main() {
  const [client] = await connect(false);
  const [rawClient, raw] = await connect(true);
  await client.flushAll();
  await client.configSet("perhaps.layout", layout);
  await bloom(client);
  await cuckoo(client);
  await chunks(raw.bf, "b", "b2");
  assert.deepEqual(await client.bf.mExists("b2", ["one", "two", "three", "absent"]), [true, true, true, false]);
  await chunks(raw.cf, "c", "c2");
  for (const item of ["one", "two", "three"]) assert.equal(await client.cf.exists("c2", item), true);
  assert.equal(await client.cf.exists("c2", "absent"), false);
  await client.close();
  await rawClient.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
