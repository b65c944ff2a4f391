package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.io.TestDescriptors;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.FaultyFiles;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultySockets;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.operation.FileOpenOperation;
import dev.gyre.io.operation.MessageOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Sockets;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/// A loop over epoll whose every call can be made to fail, and one operation for each of those calls.
abstract class FaultFixture extends OperationFixture {
    /// What the peer sends and the file holds.
    static final String TEXT = "abcdef";

    protected final Plan plan = new Plan();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private long descriptorsBefore;

    @TempDir Path directory;

    @Override
    protected EventLoop open(LoopConfig config) {
        SyscallFactories seam =
                new SyscallFactories(
                        () -> new FaultyKernel(plan),
                        () -> new FaultySockets(plan),
                        () -> new FaultyFiles(plan));
        return Loop.open(config, EpollBackend.open(seam, config.eventsPerWait()));
    }

    @BeforeEach
    void countDescriptors() throws IOException {
        SocketChannel.open().close(); // Opens what the JDK keeps open.
        descriptorsBefore = OpenDescriptors.count();
    }

    @AfterEach
    void nothingLeaked() throws Exception {
        for (AutoCloseable resource : opened) {
            resource.close();
        }
        settle();
        assertThat(loop.metrics().operations()).as("operations left over").isZero();
        assertThat(OpenDescriptors.count())
                .as("descriptors left open; they were %d before the test", descriptorsBefore)
                .isLessThanOrEqualTo(descriptorsBefore);
    }

    /// Has it closed at the end.
    protected <T extends AutoCloseable> T keep(T resource) {
        opened.add(resource);
        return resource;
    }

    protected List<Descriptor> keptPair() {
        List<Descriptor> pair = pair();
        pair.forEach(this::keep);
        return pair;
    }

    protected List<Descriptor> keptConnection() {
        List<Descriptor> ends = connection();
        ends.forEach(this::keep);
        return ends;
    }

    /// A pair whose second has something to read.
    protected Descriptor withText() {
        List<Descriptor> pair = keptPair();
        TestDescriptors.write(pair.get(0), TEXT);
        return pair.get(1);
    }

    protected Descriptor file() {
        try {
            Path path = Files.writeString(directory.resolve("file"), TEXT);
            Descriptor[] file = {null};
            FileOpenOperation open =
                    operations.open(
                            path,
                            op -> file[0] = op.opened(),
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
            open.start();
            runUntilDone(open);
            return keep(file[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Descriptor listener() {
        return keep(Sockets.listen(loop, anyPort()));
    }

    /// An operation that makes this call first, and succeeds unless it is kept from it.
    protected Operation operationOf(String call) {
        return switch (call) {
            case "recv" -> operations.read(withText(), Buffer.allocate(16), note(call));
            case "readv" -> operations.read(withText(), List.of(Buffer.allocate(4)), note(call));
            case "send" -> operations.write(keptPair().get(0), bytes(TEXT), note(call));
            case "writev" ->
                    operations.write(
                            keptPair().get(0), List.of(bytes("ab"), bytes("cdef")), note(call));
            case "recvmsg" -> {
                Descriptor to = keep(Sockets.datagram(loop, anyPort()));
                Descriptor by = keep(Sockets.datagram(loop, anyPort()));
                MessageOperation out = operations.sendMessage(by, bytes(TEXT), op -> {});
                out.to(Sockets.localAddress(loop, to)).start();
                runUntilDone(out);
                yield operations.receiveMessage(to, Buffer.allocate(16), note(call));
            }
            case "sendmsg" -> {
                Descriptor by = keep(Sockets.datagram(loop, anyPort()));
                yield operations
                        .sendMessage(by, bytes(TEXT), note(call))
                        .to(Sockets.localAddress(loop, by));
            }
            case "accept4" -> {
                Descriptor listener = listener();
                peerOf(listener);
                yield operations.accept(listener, op -> completed.add(nameOf(call, op)));
            }
            case "connect", "getsockopt", "getpeername" -> {
                Descriptor listener = listener();
                var address = Sockets.localAddress(loop, listener);
                Descriptor client = keep(Sockets.stream(loop, address));
                yield operations.connect(client, address, note(call));
            }
            case "sendfile" -> operations.sendFile(file(), 0, 6, keptPair().get(0), note(call));
            case "splice" -> {
                Pipe pipe = keep(Pipe.open());
                yield operations.spliceToPipe(withText(), pipe.writer(), 16, note(call));
            }
            case "read" -> {
                Pipe pipe = keep(Pipe.open());
                TestDescriptors.write(pipe.writer(), TEXT);
                yield operations.read(pipe.reader(), Buffer.allocate(16), note(call));
            }
            case "write" -> {
                Pipe pipe = keep(Pipe.open());
                yield operations.write(pipe.writer(), bytes(TEXT), note(call));
            }
            case "open" -> {
                Path path = file() == null ? directory : directory.resolve("file");
                yield operations.open(path, op -> completed.add(nameOf(call, op)));
            }
            case "pread" -> operations.readAt(file(), 0, Buffer.allocate(16), note(call));
            case "pwrite" -> operations.writeAt(file(), 0, bytes("ABCDEF"), note(call));
            case "fsync" -> operations.sync(file(), false, note(call));
            case "fdatasync" -> operations.sync(file(), true, note(call));
            case "statx" -> operations.stat(file(), note(call));
            default -> throw new IllegalArgumentException(call);
        };
    }

    /// As [#note], for results that are numbers of descriptors.
    private static String nameOf(String call, Operation op) {
        return call + " " + (op.failure() == null ? "ok" : op.failure().errnoName());
    }

    /// Connects to a listener, by other means than ours.
    protected SocketChannel peerOf(Descriptor listener) {
        try {
            return keep(SocketChannel.open(Sockets.localAddress(loop, listener)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// What such an operation completes with.
    protected static String successOf(String call) {
        return call
                + switch (call) {
                    case "accept4", "open" -> " ok";
                    case "connect", "getsockopt", "getpeername", "fsync", "fdatasync", "statx" ->
                            " 0";
                    case "readv" -> " 4";
                    default -> " 6";
                };
    }
}
