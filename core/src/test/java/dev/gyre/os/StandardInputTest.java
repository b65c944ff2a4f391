package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.io.TestDescriptors;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.os.Chunker;
import dev.gyre.internal.os.OpenStandardInput;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyInputs;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxFileCalls;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.internal.sys.PseudoTerminal;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// Standard input on descriptors of every kind. Descriptor 0 of this process belongs to the build.
class StandardInputTest {
    private static final int NOT_OPEN = 987_654;

    private final long openBefore = openDescriptors();
    private final List<String> log = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final LoopConfig config =
            LoopConfig.DEFAULT.withUncaughtHandler((loop, thrown) -> failures.add(thrown));
    private EventLoop loop = EventLoop.open(config);
    private final PollCalls kernel = new LinuxPollCalls();
    private final FaultyInputs inputs = new FaultyInputs();
    private final List<Descriptor> descriptors = new ArrayList<>();

    private static long openDescriptors() {
        EventLoop.open().close(); // Whatever the JVM opens on first use is open by now.
        return OpenDescriptors.count();
    }

    @AfterEach
    void nothingLeaks() {
        loop.close();
        descriptors.forEach(Descriptor::close);
        assertThat(OpenDescriptors.count())
                .as("descriptors left open, of %s", OpenDescriptors.names())
                .isLessThanOrEqualTo(openBefore);
    }

    // ------------------------------------------------------------------ fixtures

    private SyscallFactories calls() {
        return calls(LinuxPollCalls::ofThread);
    }

    private SyscallFactories calls(Supplier<? extends PollCalls> kernels) {
        return inputs.with(kernels);
    }

    private StandardInput chunks(int fd) {
        return OpenStandardInput.open(
                loop, calls(), fd, new Chunker.Bytes(bytes -> log.add(text(bytes))), this::end);
    }

    private StandardInput lines(int fd) {
        return OpenStandardInput.open(
                loop,
                calls(),
                fd,
                new Chunker.Lines(log::add, StandardInput.MAX_LINE_BYTES),
                this::end);
    }

    private void end() {
        log.add("END");
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }

    /// Runs until the loop is empty, or fails the test after a timeout.
    private void run() {
        loop.after(
                        Duration.ofSeconds(10),
                        timer -> {
                            failures.add(new AssertionError("nothing came for ten seconds"));
                            loop.stop();
                        })
                .unreference();
        loop.runUntilEmpty();
    }

    private Descriptor own(int fd) {
        Descriptor descriptor = Descriptor.own(fd);
        descriptors.add(descriptor);
        return descriptor;
    }

    /// Returns both ends, blocking like those of a shell.
    private Descriptor[] blockingPipe() {
        FdPair pair = new FdPair();
        assertThat(kernel.pipe2(pair.address(), Linux.O_CLOEXEC)).isZero();
        return new Descriptor[] {own(pair.first()), own(pair.second())};
    }

    private Descriptor[] blockingSockets() {
        FdPair pair = new FdPair();
        int type = Linux.SOCK_STREAM | Linux.SOCK_CLOEXEC;
        assertThat(kernel.socketpair(Linux.AF_UNIX, type, 0, pair.address())).isZero();
        return new Descriptor[] {own(pair.first()), own(pair.second())};
    }

    private Descriptor opened(Path path) {
        return own(new LinuxFileCalls().open(path.toString(), Linux.O_RDONLY | Linux.O_CLOEXEC));
    }

    private static void write(Descriptor descriptor, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        assertThat(descriptor.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
    }

    private boolean blocks(int fd) {
        return (kernel.fcntl(fd, Linux.F_GETFL, 0) & Linux.O_NONBLOCK) == 0;
    }

    // ------------------------------------------------------------------ kinds of input

    @Test
    @Clause("Y-1")
    void pipe_isReadToItsEnd_andStaysBlockingForOthers() {
        Descriptor[] pipe = blockingPipe();
        StandardInput input = chunks(pipe[0].fd());
        write(pipe[1], "one");
        loop.runOne();
        loop.runOne();
        assertThat(blocks(pipe[0].fd())).isTrue();
        write(pipe[1], "two");
        pipe[1].close();
        run();
        assertThat(log).containsExactly("one", "two", "END");
        assertThat(input.isOpen()).isFalse();
        assertThat(pipe[0].isOpen()).isTrue();
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void fifo_whoseWriterHasGoneBefore_isReadToItsEnd(@TempDir Path directory)
            throws IOException, InterruptedException {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).inheritIO().start().waitFor())
                .isZero();
        Descriptor reader =
                own(new LinuxFileCalls().open(fifo.toString(), Linux.O_NONBLOCK | Linux.O_CLOEXEC));
        Files.writeString(fifo, "left behind");
        chunks(reader.fd());
        run();
        assertThat(log).containsExactly("left behind", "END");
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void socket_isReadToItsEnd_withoutWaiting() {
        Descriptor[] sockets = blockingSockets();
        chunks(sockets[0].fd());
        write(sockets[1], "one");
        loop.runOne();
        loop.runOne();
        assertThat(blocks(sockets[0].fd())).isTrue();
        sockets[1].close();
        run();
        assertThat(log).containsExactly("one", "END");
        assertThat(inputs.calls()).contains("recv").doesNotContain("open");
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void file_isReadAChunkATick_fromWhereItsPositionIs(@TempDir Path directory) throws IOException {
        String content = "x".repeat(OpenStandardInput.READ_BYTES) + "y".repeat(10);
        Path file = Files.writeString(directory.resolve("file"), "head" + content);
        Descriptor descriptor = opened(file);
        assertThat(descriptor.read(ByteBuffer.allocate(4))).isEqualTo(4);
        OpenStandardInput.open(
                loop,
                calls(),
                descriptor.fd(),
                new Chunker.Bytes(
                        bytes -> {
                            log.add(bytes.remaining() + " bytes");
                            loop.defer(() -> log.add("another"));
                        }),
                this::end);
        run();
        assertThat(log)
                .containsExactly(
                        OpenStandardInput.READ_BYTES + " bytes",
                        "another",
                        "10 bytes",
                        "another",
                        "END");
        assertThat(descriptor.read(ByteBuffer.allocate(1))).isEqualTo(Descriptor.END);
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void nullDevice_andANumberThatIsNotOpen_areAtTheirEndAtOnce() {
        chunks(opened(Path.of("/dev/null")).fd());
        chunks(NOT_OPEN);
        assertThat(log).as("not inside the call").isEmpty();
        run();
        assertThat(log).containsExactly("END", "END");
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void terminal_handsOverLines_andEndsWithControlD() {
        try (var terminal = new PseudoTerminal()) {
            lines(terminal.fd());
            terminal.type("hello\nwor");
            loop.runOne();
            loop.runOne();
            assertThat(log).containsExactly("hello");
            assertThat(blocks(terminal.fd())).isTrue();
            terminal.type("ld\n\4");
            run();
        }
        assertThat(log).containsExactly("hello", "world", "END");
        assertThat(inputs.calls()).contains("open");
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void terminal_thatIsHungUp_isAtItsEnd() {
        try (var terminal = new PseudoTerminal()) {
            lines(terminal.fd());
            loop.runOne();
            terminal.hangUp();
            run();
        }
        assertThat(log).containsExactly("END");
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void personsSideOfATerminal_isNotOpenedAgain_whichWouldMakeAnother() {
        try (var terminal = new PseudoTerminal()) {
            chunks(terminal.userFd()).close();
        }
        assertThat(inputs.calls()).doesNotContain("open");
    }

    // ------------------------------------------------------------------ refusals

    @Test
    @Clause("Y-1")
    void pipe_thatMayNotBeOpenedAgain_isReadOnceForEachEvent() {
        for (int errno : new int[] {Errno.EACCES, Errno.ENOENT, Errno.EMFILE}) {
            log.clear();
            inputs.refuse("open", errno);
            Descriptor[] pipe = blockingPipe();
            lines(pipe[0].fd());
            write(pipe[1], "a\nb");
            loop.runOne();
            loop.runOne();
            write(pipe[1], "c\n");
            pipe[1].close();
            run();
            assertThat(log).containsExactly("a", "bc", "END");
            assertThat(failures).isEmpty();
        }
    }

    @Test
    @Clause("Y-1")
    void anyKind_whereTheKernelDoesNotTellIt_isReadNevertheless() {
        inputs.refuse("statx", Errno.EPERM);
        Descriptor[] sockets = blockingSockets();
        chunks(sockets[0].fd());
        chunks(opened(Path.of("/dev/null")).fd());
        write(sockets[1], "one");
        sockets[1].close();
        run();
        assertThat(log).containsExactlyInAnyOrder("one", "END", "END");
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void directory_isRefusedWithTheRemedy_andTheEndIsNotTold(@TempDir Path directory) {
        StandardInput input = chunks(opened(directory).fd());
        run();
        assertThat(log).isEmpty();
        assertThat(input.isOpen()).isFalse();
        assertThat(failures)
                .singleElement()
                .isInstanceOf(SystemCallException.class)
                .extracting(Throwable::getMessage)
                .asString()
                .contains("EISDIR")
                .contains("it is a directory");
    }

    @Test
    @Clause("Y-1")
    void recv_refused_closesTheInputAndIsReported() {
        inputs.refuse("recv", Errno.ECONNRESET);
        Descriptor[] sockets = blockingSockets();
        StandardInput input = chunks(sockets[0].fd());
        write(sockets[1], "one");
        run();
        assertThat(log).isEmpty();
        assertThat(input.isOpen()).isFalse();
        assertThat(failures).singleElement().isInstanceOf(SystemCallException.class);
    }

    @Test
    @Clause("Y-1")
    void fcntl_refused_isThrownAtOnce() {
        var plan = new FaultyKernel.Plan().fail("fcntl", Errno.EPERM);
        var faulty = new FaultyKernel(plan);
        assertThatThrownBy(
                        () ->
                                OpenStandardInput.open(
                                        loop,
                                        calls(() -> faulty),
                                        NOT_OPEN,
                                        new Chunker.Bytes(bytes -> {}),
                                        () -> {}))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("fcntl(F_GETFL)");
        chunks(NOT_OPEN).close(); // The number is free again.
    }

    @Test
    @Clause("Y-1")
    void descriptorForWritingOnly_isRefusedAtOnce() {
        Descriptor[] pipe = blockingPipe();
        assertThatThrownBy(() -> chunks(pipe[1].fd()))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EBADF");
    }

    @Test
    @Clause("Y-1")
    void watch_refused_isThrownAndNothingStaysOpen() {
        loop.close();
        var plan = new FaultyKernel.Plan();
        loop = Loop.open(config, EpollBackend.open(() -> new FaultyKernel(plan), 8));
        Descriptor[] pipe = blockingPipe();
        plan.fail("epoll_ctl", Errno.ENOMEM);
        long before = OpenDescriptors.count();
        assertThatThrownBy(() -> chunks(pipe[0].fd()))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENOMEM");
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        assertThat(loop.runUntilEmpty()).isZero();
        chunks(pipe[0].fd()).close();
    }

    @Test
    @Clause("Y-1")
    void line_beyondTheLimit_closesTheInputAndIsReported() {
        Descriptor[] pipe = blockingPipe();
        StandardInput input =
                OpenStandardInput.open(
                        loop, calls(), pipe[0].fd(), new Chunker.Lines(log::add, 3), this::end);
        write(pipe[1], "ok\nlonger\nok\n");
        run();
        assertThat(log).containsExactly("ok");
        assertThat(input.isOpen()).isFalse();
        assertThat(failures)
                .singleElement()
                .isInstanceOf(IllegalStateException.class)
                .extracting(Throwable::getMessage)
                .asString()
                .contains("longer than");
    }

    // ------------------------------------------------------------------ pause, close, reference

    @Test
    @Clause("Y-1")
    void pause_fromACallback_keepsTheOtherLinesUntilResume() {
        Descriptor[] pipe = blockingPipe();
        var input = new AtomicReference<StandardInput>();
        input.set(
                OpenStandardInput.open(
                        loop,
                        calls(),
                        pipe[0].fd(),
                        new Chunker.Lines(
                                line -> {
                                    log.add(line);
                                    input.get().pause();
                                },
                                100),
                        this::end));
        write(pipe[1], "a\nb\nc");
        pipe[1].close();
        for (String line : List.of("a", "b", "c")) {
            run();
            assertThat(log.removeFirst()).isEqualTo(line);
            assertThat(log).as("paused, and so not alive").isEmpty();
            input.get().resume();
        }
        run();
        assertThat(log).containsExactly("END");
        input.get().pause();
        input.get().resume(); // Too late for both, which is no mistake.
        assertThat(loop.runUntilEmpty()).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void pause_leavesBytesToTheKernel() {
        Descriptor[] pipe = blockingPipe();
        StandardInput input = chunks(pipe[0].fd());
        input.pause();
        write(pipe[1], "kept");
        run();
        assertThat(log).isEmpty();
        ByteBuffer bytes = ByteBuffer.allocate(10);
        assertThat(pipe[0].read(bytes)).isEqualTo(4);
    }

    @Test
    @Clause("Y-1")
    void pause_ofAFile_stopsReadingIt(@TempDir Path directory) throws IOException {
        Descriptor file = opened(Files.writeString(directory.resolve("file"), "content"));
        StandardInput input = chunks(file.fd());
        input.pause();
        run();
        assertThat(log).isEmpty();
        input.resume();
        run();
        assertThat(log).containsExactly("content", "END");
    }

    @Test
    @Clause("Y-1")
    void close_fromACallback_runsNoOther() {
        Descriptor[] pipe = blockingPipe();
        var input = new AtomicReference<StandardInput>();
        input.set(
                OpenStandardInput.open(
                        loop,
                        calls(),
                        pipe[0].fd(),
                        new Chunker.Lines(
                                line -> {
                                    log.add(line);
                                    input.get().close();
                                    input.get().close();
                                },
                                100),
                        this::end));
        write(pipe[1], "a\nb\n");
        pipe[1].close();
        run();
        assertThat(log).containsExactly("a");
    }

    @Test
    @Clause("Y-1")
    void callback_thatThrows_missesNothingThatComesAfter() {
        Descriptor[] pipe = blockingPipe();
        OpenStandardInput.open(
                loop,
                calls(),
                pipe[0].fd(),
                new Chunker.Lines(
                        line -> {
                            log.add(line);
                            throw new IllegalStateException(line);
                        },
                        100),
                this::end);
        write(pipe[1], "a\nb\nc");
        pipe[1].close();
        run();
        assertThat(log).containsExactly("a", "b", "c", "END");
        assertThat(failures).extracting(Throwable::getMessage).containsExactly("a", "b", "c");
    }

    @Test
    @Clause("Y-1")
    void unreference_letsARunReturn_alsoForAFile(@TempDir Path directory) throws IOException {
        Descriptor[] pipe = blockingPipe();
        Descriptor file = opened(Files.writeString(directory.resolve("file"), "content"));
        StandardInput first = chunks(pipe[0].fd()).unreference();
        StandardInput second = chunks(file.fd()).unreference();
        assertThat(loop.runUntilEmpty()).isZero();
        second.reference();
        run();
        assertThat(log).containsExactly("content", "END");
        write(pipe[1], "more");
        pipe[1].close();
        first.reference();
        run();
        assertThat(log).containsExactly("content", "END", "more", "END");
    }

    @Test
    @Clause("Y-1")
    void shutdown_doesNotWaitForTheRestOfAnEndlessFile() {
        chunks(opened(Path.of("/dev/zero")).fd());
        loop.runOne();
        loop.submit(() -> loop.shutdown(Duration.ofDays(1)));
        loop.run();
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void secondReader_isRefusedUntilTheFirstIsClosed_whichTheLoopsEndDoes() {
        Descriptor[] pipe = blockingPipe();
        StandardInput first = chunks(pipe[0].fd());
        assertThatThrownBy(() -> chunks(pipe[0].fd()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("close the other one first");
        loop.close();
        assertThat(first.isOpen()).isFalse();
        loop = EventLoop.open(config);
        chunks(pipe[0].fd());
    }

    @Test
    @Clause({"Y-1", "L-9"})
    void methods_onAnotherThread_areRefused() throws InterruptedException {
        StandardInput input = chunks(blockingPipe()[0].fd());
        var thrown = new ArrayList<Throwable>();
        loop.submit(
                () -> {
                    Thread other =
                            Thread.ofPlatform()
                                    .start(
                                            () -> {
                                                for (Runnable call :
                                                        List.<Runnable>of(
                                                                input::pause,
                                                                input::resume,
                                                                input::unreference,
                                                                input::reference,
                                                                input::close)) {
                                                    try {
                                                        call.run();
                                                    } catch (WrongThreadException e) {
                                                        thrown.add(e);
                                                    }
                                                }
                                            });
                    try {
                        other.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    loop.stop();
                });
        loop.run();
        assertThat(thrown).hasSize(5);
        assertThat(input.isOpen()).isTrue();
    }

    @Test
    @Clause("Y-1")
    void null_anywhere_isRefusedByName() {
        assertThatThrownBy(() -> StandardInput.on(null, bytes -> {}, () -> {})).hasMessage("loop");
        assertThatThrownBy(() -> StandardInput.on(loop, null, () -> {})).hasMessage("onBytes");
        assertThatThrownBy(() -> StandardInput.on(loop, bytes -> {}, null)).hasMessage("onEnd");
        assertThatThrownBy(() -> StandardInput.lines(loop, null, () -> {})).hasMessage("onLine");
    }

    // ------------------------------------------------------------------ each chunk is a callback

    @Test
    @Clause({"Y-1", "L-7", "M-1"})
    void lines_ofOneRead_areCallbacksOfTheirOwn() {
        loop.close();
        loop = EventLoop.open(config.withStrictMicrotasks(true));
        try (Pipe pipe = Pipe.open()) {
            TestDescriptors.write(pipe.writer(), "a\nb\nc\n");
            pipe.writer().close();
            OpenStandardInput.open(
                    loop,
                    calls(),
                    pipe.reader().fd(),
                    new Chunker.Lines(
                            line -> {
                                log.add(line);
                                loop.microtask(() -> log.add(line + "'"));
                            },
                            100),
                    this::end);
            while (log.size() < 2) {
                loop.runOne();
            }
            assertThat(log).containsExactly("a", "a'");
            run();
        }
        assertThat(log).containsExactly("a", "a'", "b", "b'", "c", "c'", "END");
    }

    @Test
    @Clause({"Y-1", "S-3"})
    void lines_afterTheLoopWasClosedByOne_areNotHandedOver() {
        try (Pipe pipe = Pipe.open()) {
            TestDescriptors.write(pipe.writer(), "a\nb\nc\n");
            OpenStandardInput.open(
                    loop,
                    calls(),
                    pipe.reader().fd(),
                    new Chunker.Lines(
                            line -> {
                                log.add(line);
                                loop.close();
                            },
                            100),
                    this::end);
            loop.run();
        }
        assertThat(log).containsExactly("a");
    }

    @Test
    @Clause({"Y-1", "L-10"})
    void throwables_ofALineAndOfTheEnd_areBothReported() {
        try (Pipe pipe = Pipe.open()) {
            TestDescriptors.write(pipe.writer(), "a\n");
            pipe.writer().close();
            OpenStandardInput.open(
                    loop,
                    calls(),
                    pipe.reader().fd(),
                    new Chunker.Lines(
                            line -> {
                                throw new IllegalStateException("line");
                            },
                            100),
                    () -> {
                        throw new IllegalStateException("end");
                    });
            run();
        }
        assertThat(failures).extracting(Throwable::getMessage).containsExactly("line", "end");
    }
}
