#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Java: streams, NIO, FileChannel, memory mapping, locks, asynchronous channels, sockets, processes, thread pools. The
# program is compiled and run by one command, which needs the JDK.
. "$(dirname "$0")/libprograms.sh"
need default-jdk-headless java javac

cat >All.java <<'JAVA'
import java.io.*;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import java.util.zip.*;

public class All {
	static void say(Object... values) {
		System.out.println(Arrays.stream(values).map(String::valueOf).collect(Collectors.joining(" ")));
	}

	static long checksum(Path path) throws IOException {
		CRC32 crc = new CRC32();
		crc.update(Files.readAllBytes(path));
		return crc.getValue();
	}

	static void files() throws Exception {
		Path dir = Files.createDirectories(Path.of("tree/a/b"));
		for (int i = 0; i < 100; i++)
			Files.writeString(dir.resolve("f" + i), "text ".repeat(i));
		Files.copy(dir.resolve("f99"), Path.of("copy"), StandardCopyOption.REPLACE_EXISTING);
		Files.move(dir.resolve("f1"), Path.of("moved"), StandardCopyOption.ATOMIC_MOVE);
		Files.createSymbolicLink(Path.of("link"), Path.of("copy"));
		Files.createLink(Path.of("hard"), Path.of("copy"));
		Files.setPosixFilePermissions(Path.of("copy"), PosixFilePermissions.fromString("rw-r-----"));
		Files.setLastModifiedTime(Path.of("copy"), FileTime.fromMillis(1000000));
		try (Stream<Path> walk = Files.walk(Path.of("tree"))) {
			say("walked", walk.count());
		}
		say(Files.readSymbolicLink(Path.of("link")), Files.size(Path.of("hard")), Files.getLastModifiedTime(Path.of("hard")));
		try {
			Files.createDirectory(Path.of("tree"));
		} catch (FileAlreadyExistsException e) {
			say("exists", e.getMessage());
		}
		try {
			new FileInputStream("nothing");
		} catch (FileNotFoundException e) {
			say(e.getMessage());
		}
		try (BufferedWriter w = Files.newBufferedWriter(Path.of("lines")); PrintWriter p = new PrintWriter(w)) {
			for (int i = 0; i < 20000; i++)
				p.printf("line %d%n", i);
		}
		try (Stream<String> lines = Files.lines(Path.of("lines"))) {
			say("lines", lines.mapToInt(String::length).sum());
		}
		try (RandomAccessFile f = new RandomAccessFile("random", "rwd")) {
			f.setLength(100000);
			for (int i = 0; i < 500; i++) {
				f.seek(i * 7919L % 99000);
				f.writeLong(i);
			}
			f.getFD().sync();
			say("length", f.length());
		}
		try (ObjectOutputStream out = new ObjectOutputStream(new GZIPOutputStream(new FileOutputStream("objects")))) {
			out.writeObject(new ArrayList<>(IntStream.range(0, 5000).boxed().toList()));
		}
		try (ObjectInputStream in = new ObjectInputStream(new GZIPInputStream(new FileInputStream("objects")))) {
			say("objects", ((List<?>) in.readObject()).size());
		}
		try (FileSystem zip = FileSystems.newFileSystem(Path.of("archive.zip"), Map.of("create", "true"))) {
			Files.writeString(zip.getPath("/inside"), "zipped");
		}
		Files.delete(Path.of("archive.zip"));
	}

	static void channels() throws Exception {
		try (FileChannel c = FileChannel.open(Path.of("channel"), StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
			for (int i = 0; i < 300; i++) {
				buffer.clear();
				while (buffer.hasRemaining())
					buffer.putInt(i);
				buffer.flip();
				c.write(buffer, i * 4096L);
			}
			c.force(true);
			ByteBuffer[] parts = { ByteBuffer.allocate(100), ByteBuffer.allocate(1000), ByteBuffer.allocate(10) };
			c.position(4096 * 5);
			say("scattered", c.read(parts));
			MappedByteBuffer map = c.map(FileChannel.MapMode.READ_WRITE, 0, c.size());
			for (int i = 0; i < map.capacity() / 8; i += 64)
				map.putLong(i * 8, i);
			map.force();
			try (FileLock lock = c.lock(0, 100, false)) {
				say("locked", lock.isValid(), lock.isShared());
			}
			try (FileChannel to = FileChannel.open(Path.of("transferred"), StandardOpenOption.CREATE,
					StandardOpenOption.WRITE)) {
				say("transferred", c.transferTo(0, c.size(), to));
			}
			c.truncate(1000000);
		}
		say(checksum(Path.of("channel")), checksum(Path.of("transferred")));
		ExecutorService pool = Executors.newFixedThreadPool(4);
		try (AsynchronousFileChannel c = AsynchronousFileChannel.open(Path.of("async"),
				Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), pool)) {
			List<Future<Integer>> writes = new ArrayList<>();
			for (int i = 0; i < 100; i++)
				writes.add(c.write(ByteBuffer.wrap(("block " + i).repeat(10).getBytes()), i * 200L));
			int sum = 0;
			for (Future<Integer> write : writes)
				sum += write.get();
			say("written", sum);
		}
		pool.shutdown();
	}

	static void threads() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(8);
		List<Future<Long>> results = new ArrayList<>();
		for (int t = 0; t < 16; t++) {
			int n = t;
			results.add(pool.submit(() -> {
				Path path = Path.of("thread" + n);
				try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
					for (int i = 0; i < 20000; i++)
						out.write(i * n);
				}
				return checksum(path);
			}));
		}
		for (Future<Long> result : results)
			say("thread", result.get());
		pool.shutdown();
	}

	static void processes() throws Exception {
		Process p = new ProcessBuilder("sh", "-c", "cat; echo error >&2; exit 3").redirectError(new File("errors")).start();
		try (Writer w = new OutputStreamWriter(p.getOutputStream())) {
			w.write("to the child\n".repeat(2000));
		}
		say(new String(p.getInputStream().readAllBytes()).length(), p.waitFor());
		// A process that is killed while it starts is not recorded, and a warning would say so.
		Process killed = new ProcessBuilder("sh", "-c", "echo started; read line").start();
		killed.getInputStream().read();
		killed.destroyForcibly();
		say(killed.waitFor());
		try {
			new ProcessBuilder("nonexistent-program").start();
		} catch (IOException e) {
			say(e.getMessage());
		}
		List<Process> pipeline = ProcessBuilder.startPipeline(List.of(new ProcessBuilder("seq", "1000"),
				new ProcessBuilder("grep", "7"), new ProcessBuilder("wc", "-l")));
		say(new String(pipeline.get(2).getInputStream().readAllBytes()).trim());
		List<Process> many = new ArrayList<>();
		for (int i = 0; i < 10; i++)
			many.add(new ProcessBuilder("sh", "-c", "echo " + i + " >child" + i).inheritIO().start());
		for (Process one : many)
			say(one.waitFor());
	}

	static void sockets() throws Exception {
		try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			server.bind(UnixDomainSocketAddress.of("socket"));
			Thread echo = new Thread(() -> {
				try (SocketChannel s = server.accept()) {
					ByteBuffer b = ByteBuffer.allocate(65536);
					while (s.read(b) >= 0) {
						b.flip();
						while (b.hasRemaining())
							s.write(b);
						b.clear();
					}
				} catch (IOException e) {
					say(e);
				}
			});
			echo.start();
			try (SocketChannel s = SocketChannel.open(UnixDomainSocketAddress.of("socket"))) {
				int got = 0;
				for (int i = 0; i < 50; i++) {
					s.write(ByteBuffer.allocate(1000));
					ByteBuffer b = ByteBuffer.allocate(1000);
					while (b.hasRemaining())
						got += s.read(b);
				}
				say("echoed", got);
			}
			echo.join();
		}
		Files.delete(Path.of("socket"));
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			Future<Integer> sum = CompletableFuture.supplyAsync(() -> {
				try (Socket s = server.accept()) {
					return s.getInputStream().readAllBytes().length;
				} catch (IOException e) {
					return -1;
				}
			});
			try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
				s.getOutputStream().write(new byte[200000]);
			}
			say("received", sum.get());
		}
		try (Selector selector = Selector.open()) {
			Pipe pipe = Pipe.open();
			pipe.source().configureBlocking(false);
			pipe.source().register(selector, SelectionKey.OP_READ);
			pipe.sink().write(ByteBuffer.wrap("x".getBytes(StandardCharsets.UTF_8)));
			say("selected", selector.select());
		}
	}

	public static void main(String[] args) throws Exception {
		files();
		channels();
		threads();
		processes();
		sockets();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			try {
				Files.writeString(Path.of("hook"), "written by the hook");
			} catch (IOException e) {
				say(e);
			}
		}));
		System.exit(7);
	}
}
JAVA

# java exits with 7, which sh expects
for options in "" "-Xint" "-XX:+UseSerialGC -XX:TieredStopAtLevel=1" "-XX:+UseParallelGC -Xmx128m"; do
	compare_runs "java $options" sh -c 'code=0; java -XX:-UsePerfData '"$options"' "$0" || code=$?; test $code = 7' "$work/All.java"
done
compare_runs "javac and java, with class files and a jar" sh -eu -c '
javac -d classes "$0"
jar --create --date=2020-02-02T02:02:02Z --file all.jar --main-class All -C classes .
mkdir run
cd run
code=0
java -XX:-UsePerfData -jar ../all.jar || code=$?
test $code = 7' "$work/All.java"
