#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Node.js: fs in all three styles, streams, worker threads, child processes, cluster, sockets, zlib.
. "$(dirname "$0")/libprograms.sh"
need nodejs node

cat >all.js <<'JS'
const fs = require("fs"), path = require("path"), os = require("os"), net = require("net"), http = require("http");
const { Worker, isMainThread, workerData, parentPort } = require("worker_threads");
const child = require("child_process"), zlib = require("zlib"), crypto = require("crypto");
const { pipeline } = require("stream/promises"), { once } = require("events"), assert = require("assert");
const md5 = (data) => crypto.createHash("md5").update(data).digest("hex");

if (!isMainThread) {
	const { name, shared } = workerData, counter = new Int32Array(shared);
	const fd = fs.openSync(name, "w+");
	for (let i = 0; i < 200; i++) {
		fs.writeSync(fd, Buffer.alloc(512, i), 0, 512, i * 512);
		Atomics.add(counter, 0, 1);
	}
	fs.fsyncSync(fd);
	const back = Buffer.alloc(200 * 512);
	fs.readSync(fd, back, 0, back.length, 0);
	fs.closeSync(fd);
	parentPort.postMessage(md5(back));
	return;
}
if (process.argv[2] === "forked") {
	process.on("message", (m) => {
		fs.writeFileSync(m.name, "from the child " + m.text);
		process.send({ size: fs.statSync(m.name).size }, () => process.exit(5));
	});
	return;
}

async function files() {
	fs.mkdirSync("sync/a/b", { recursive: true });
	for (let i = 0; i < 100; i++) fs.writeFileSync(`sync/a/f${i}`, "x".repeat(i * 10));
	fs.appendFileSync("sync/a/f1", "more");
	fs.copyFileSync("sync/a/f99", "sync/copy");
	fs.linkSync("sync/copy", "sync/hard");
	fs.symlinkSync("copy", "sync/link");
	fs.renameSync("sync/a/f2", "sync/a/renamed");
	fs.truncateSync("sync/a/f50", 7);
	fs.utimesSync("sync/copy", 1000, 2000);
	console.log(fs.readdirSync("sync/a").length, fs.readlinkSync("sync/link"), fs.statSync("sync/hard").nlink);
	console.log(fs.lstatSync("sync/copy").mtimeMs, fs.existsSync("nothing"), fs.realpathSync("sync/link").endsWith("copy"));
	try { fs.openSync("nothing", "r"); } catch (e) { console.log(e.code, e.errno, e.syscall); }
	try { fs.mkdirSync("sync"); } catch (e) { console.log(e.code, e.errno, e.syscall); }
	fs.mkdirSync("promised");
	await Promise.all([...Array(200).keys()].map((i) => fs.promises.writeFile(`promised/f${i}`, String(i).repeat(50))));
	const sizes = await Promise.all([...Array(200).keys()].map(async (i) => (await fs.promises.readFile(`promised/f${i}`)).length));
	console.log(sizes.reduce((a, b) => a + b));
	const handle = await fs.promises.open("promised/handle", "w+");
	await handle.writev([Buffer.from("one "), Buffer.from("two "), Buffer.from("three")]);
	await handle.datasync();
	console.log((await handle.read(Buffer.alloc(4), 0, 4, 4)).buffer.toString(), (await handle.stat()).size);
	await handle.close();
	await new Promise((done, fail) => fs.write(fs.openSync("callback", "w"), "text", (e, n) => e ? fail(e) : done(n)));
	await fs.promises.rm("promised", { recursive: true });
	const dir = await fs.promises.opendir("sync/a");
	let entries = 0;
	for await (const entry of dir) entries += entry.isFile();
	console.log(entries);
}

async function streams() {
	const data = Buffer.alloc(3000000, "stream of data ");
	fs.writeFileSync("data", data);
	await pipeline(fs.createReadStream("data"), zlib.createGzip(), fs.createWriteStream("data.gz"));
	await pipeline(fs.createReadStream("data.gz"), zlib.createGunzip(), fs.createWriteStream("back"));
	console.log(md5(fs.readFileSync("back")) === md5(data));
	fs.unlinkSync("data.gz");
}

async function workers() {
	const shared = new SharedArrayBuffer(4);
	const results = await Promise.all([0, 1, 2, 3].map(async (i) => {
		const worker = new Worker(__filename, { workerData: { name: `worker${i}`, shared } });
		const [[result]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
		return result;
	}));
	console.log(new Int32Array(shared)[0], new Set(results).size);
}

async function children() {
	console.log(child.execSync("echo from a shell; ls sync | wc -l").toString().trim());
	console.log(child.spawnSync("sh", ["-c", "cat; exit 3"], { input: "to the child" }).stdout.toString());
	console.log(child.spawnSync("sh", ["-c", "kill -9 $$"]).signal, child.spawnSync("nonexistent").error.code);
	const cat = child.spawn("cat", { stdio: ["pipe", fs.openSync("piped", "w"), "inherit"] });
	for (let i = 0; i < 1000; i++) cat.stdin.write(`line ${i}\n`);
	cat.stdin.end();
	console.log(await once(cat, "close"));
	const forked = child.fork(__filename, ["forked"]);
	forked.send({ name: "forked", text: "by message" });
	const [[answer], [code]] = await Promise.all([once(forked, "message"), once(forked, "exit")]);
	console.log(answer.size, code);
	const many = await Promise.all([...Array(10).keys()].map((i) => new Promise((done) =>
		child.execFile("sh", ["-c", `echo ${i} >child${i}; cat child${i}`], (e, out) => done(out.trim())))));
	console.log(many.join(" "));
}

async function sockets() {
	const server = net.createServer((s) => s.pipe(s)).listen("socket");
	await once(server, "listening");
	const client = net.connect("socket");
	let got = 0;
	client.on("data", (d) => { if ((got += d.length) === 500000) client.end(); });
	client.write(Buffer.alloc(500000));
	await once(client, "close");
	server.close();
	console.log(got);
	const web = http.createServer((q, r) => fs.createReadStream("data").pipe(r)).listen(0, "127.0.0.1");
	await once(web, "listening");
	const response = await fetch(`http://127.0.0.1:${web.address().port}/`);
	console.log((await response.arrayBuffer()).byteLength, response.status);
	web.closeAllConnections();
	web.close();
}

async function watching() {
	fs.writeFileSync("watched", "a");
	const watcher = fs.watch("watched"), changed = once(watcher, "change");
	setImmediate(() => fs.appendFileSync("watched", "b"));
	console.log((await changed)[1]);
	watcher.close();
}

(async () => {
	await files();
	await streams();
	await workers();
	await children();
	await sockets();
	await watching();
	process.on("exit", () => fs.writeFileSync("at-exit", "written at exit"));
	process.exitCode = 0;
})();
JS
compare_runs "node: fs, streams, workers, children, sockets" node "$work/all.js"
compare_runs "node with 8 threads for files" env UV_THREADPOOL_SIZE=8 node "$work/all.js"
compare_runs "node: io_uring is not used" env UV_USE_IO_URING=0 node "$work/all.js"
case_begin "node: an uncaught error"
bare node -e 'process.on("exit", (c) => require("fs").writeFileSync("code", String(c))); throw new Error("no")'
captured node -e 'process.on("exit", (c) => require("fs").writeFileSync("code", String(c))); throw new Error("no")'
same_code
same_files
