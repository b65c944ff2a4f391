package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.WatchedProcess;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyProcessCalls;
import dev.gyre.internal.sys.FileNames;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxProcessCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.internal.sys.ProcessCalls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/// The arguments, environment and streams of a program, and the messages of a failed start.
class CommandTest {
    @TempDir private Path directory;

    private static Collected outputOf(Command command) {
        return outputOf(command, LinuxProcessCalls::ofThread);
    }

    private static Collected outputOf(Command command, Supplier<? extends ProcessCalls> processes) {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    WatchedProcess.start(
                            loop,
                            command.withOutput(Stdio.PIPE),
                            LinuxPollCalls::ofThread,
                            processes);
            Collected output = Collected.from(loop, child.output());
            loop.runUntilEmpty();
            return output;
        }
    }

    private static Command shell(String script) {
        return Command.of("sh", "-c", script);
    }

    // ------------------------------------------------------------------ arguments and environment

    @Test
    @Clause("Y-1")
    void arguments_reachTheProgramAsTheyAre() {
        Command command =
                Command.of("printf", "%s\n", "", "two words", "$HOME * \"'")
                        .withArguments(List.of("größe", "日本"));
        assertThat(outputOf(command).lines())
                .containsExactly("", "two words", "$HOME * \"'", "größe", "日本");
    }

    @Test
    @Clause("Y-1")
    void of_aListOfWords_takesTheFirstForTheProgram() {
        Command command = Command.of(List.of("printf", "%s\n", "one", "two words"));
        assertThat(outputOf(command).lines()).containsExactly("one", "two words");
    }

    @Test
    @Clause("Y-1")
    void arguments_byTheThousands_reachTheProgram() {
        List<String> many = new ArrayList<>(Collections.nCopies(20_000, "0123456789"));
        assertThat(outputOf(Command.of("printf", "%s\n").withArguments(many)).lines())
                .isEqualTo(many);
    }

    @Test
    @Clause("Y-1")
    void environment_isThisProcesssWithChanges() {
        Command command =
                Command.of("env", "-0")
                        .withEnvironment("GYRE_TEST", "a=b c")
                        .withEnvironment("GYRE_GONE", "x")
                        .withoutEnvironment("GYRE_GONE")
                        .withEnvironment("HOME", "/nowhere");
        List<String> variables = List.of(outputOf(command).text().split("\0"));
        assertThat(variables)
                .contains("GYRE_TEST=a=b c", "HOME=/nowhere", "PATH=" + System.getenv("PATH"))
                .noneMatch(variable -> variable.startsWith("GYRE_GONE="))
                .filteredOn(variable -> variable.startsWith("HOME="))
                .hasSize(1);
    }

    @Test
    @Clause("Y-1")
    void environment_unchanged_isThisProcesssByteForByte() throws IOException {
        byte[] ours = Files.readAllBytes(Path.of("/proc/self/environ"));
        assertThat(outputOf(Command.of("env", "-0")).bytes()).isEqualTo(ours);
    }

    @Test
    @Clause("Y-1")
    void environment_fromNothing_isWhatWasAdded() {
        Command command =
                Command.of("env")
                        .withEnvironment("LOST", "1")
                        .withoutEnvironment()
                        .withEnvironment("ONLY", "this");
        assertThat(outputOf(command).lines()).containsExactly("ONLY=this");
    }

    @Test
    @Clause("Y-1")
    void directory_isWhereTheProgramStarts_andWhereItIsLookedUpFrom() throws IOException {
        assertThat(outputOf(Command.of("pwd", "-P").withDirectory(directory)).lines())
                .containsExactly(directory.toRealPath().toString());
        script("here", "#!/bin/sh\necho found");
        assertThat(outputOf(Command.of("./here").withDirectory(directory)).lines())
                .containsExactly("found");
    }

    // ------------------------------------------------------------------ streams

    @Test
    @Clause("Y-1")
    void input_null_isAtItsEnd() {
        assertThat(outputOf(Command.of("cat").withInput(Stdio.NULL)).text()).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void error_null_isGone() {
        assertThat(outputOf(shell("echo out; echo err >&2").withError(Stdio.NULL)).lines())
                .containsExactly("out");
    }

    @Test
    @Clause("Y-1")
    void error_toOutput_comesInOrder() {
        assertThat(outputOf(shell("echo a; echo b >&2; echo c").withErrorToOutput()).lines())
                .containsExactly("a", "b", "c");
    }

    @Test
    @Clause("Y-1")
    void pipes_blockForTheProgram() {
        String output =
                outputOf(
                                Command.of("cat", "/proc/self/fdinfo/0", "/proc/self/fdinfo/1")
                                        .withInput(Stdio.PIPE))
                        .text();
        List<Integer> flags =
                output.lines()
                        .filter(line -> line.startsWith("flags:"))
                        .map(line -> Integer.parseInt(line.substring(6).strip(), 8))
                        .toList();
        assertThat(flags).hasSize(2).allMatch(each -> (each & Linux.O_NONBLOCK) == 0);
    }

    @Test
    @Clause("Y-1")
    void descriptors_ofThisProcess_areNotInherited() {
        withAnInheritableDescriptor(() -> assertOnlyStandardStreams(LinuxProcessCalls::ofThread));
    }

    @Test
    @Clause("Y-1")
    void descriptors_whereLibcCannotCloseThemAll_areClosedOneByOne() {
        FaultyKernel.Plan plan = new FaultyKernel.Plan();
        plan.fail("posix_spawn_file_actions_addclosefrom_np", Errno.ENOSYS);
        FaultyProcessCalls processes = new FaultyProcessCalls(plan);
        withAnInheritableDescriptor(() -> assertOnlyStandardStreams(() -> processes));
        assertThat(plan.count("posix_spawn_file_actions_addclose")).isPositive();
    }

    private static void withAnInheritableDescriptor(Runnable test) {
        FdPair pair = new FdPair();
        LinuxPollCalls kernel = new LinuxPollCalls();
        assertThat(kernel.pipe2(pair.address(), 0)).isZero();
        try {
            test.run();
        } finally {
            int _ = kernel.close(pair.first());
            int _ = kernel.close(pair.second());
        }
    }

    private static void assertOnlyStandardStreams(Supplier<? extends ProcessCalls> processes) {
        assertThat(outputOf(Command.of("ls", "/proc/self/fd"), processes).lines())
                .as("3 is the directory that ls itself reads")
                .containsExactly("0", "1", "2", "3");
    }

    @Test
    @Clause("Y-1")
    void signals_areNeitherBlockedNorIgnoredWhereItMatters() throws InterruptedException {
        List<String> status = new ArrayList<>();
        Thread blocking =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    blockSignals();
                                    status.addAll(
                                            outputOf(Command.of("cat", "/proc/self/status"))
                                                    .lines());
                                });
        blocking.join();
        assertThat(status).contains("SigBlk:\t0000000000000000");
        long ignored =
                status.stream()
                        .filter(line -> line.startsWith("SigIgn:"))
                        .mapToLong(line -> Long.parseUnsignedLong(line.substring(8), 16))
                        .sum();
        for (Signal signal : List.of(Signal.SIGPIPE, Signal.SIGXFSZ, Signal.SIGCHLD)) {
            assertThat(ignored & 1L << (signal.number() - 1)).as(signal.name()).isZero();
        }
    }

    /// Blocks in the calling thread, as for a loop that reads signals.
    @SuppressWarnings("restricted") // a test's own call
    private static void blockSignals() {
        try (Arena arena = Arena.ofConfined()) {
            Linker linker = Linker.nativeLinker();
            MethodHandle mask =
                    linker.downcallHandle(
                            linker.defaultLookup().findOrThrow("pthread_sigmask"),
                            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
            MemorySegment signals = arena.allocate(128, 8);
            signals.set(JAVA_INT, 0, 1 << (Signal.SIGTERM.number() - 1));
            int block = 0;
            int result = (int) mask.invokeExact(block, signals, MemorySegment.NULL);
            assertThat(result).isZero();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    // ------------------------------------------------------------------ refusals

    private Path script(String name, String text) throws IOException {
        Path file = Files.writeString(directory.resolve(name), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static void assertRefused(Command command, String message) {
        try (EventLoop loop = GuardedLoop.open()) {
            assertThatThrownBy(() -> ChildProcess.start(loop, command))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessage("cannot start '" + command.program() + "': " + message);
        }
    }

    @Test
    @Clause("Y-1")
    void start_ofNoSuchCommand_saysWhereItWasLookedFor() {
        assertRefused(
                Command.of("gyre-no-such-command"), "ENOENT (2): no such command on the PATH");
        assertRefused(
                Command.of("/gyre/no/such/file"),
                "ENOENT (2): no such file, or its first line names an interpreter that does not"
                        + " exist");
    }

    @Test
    @Clause("Y-1")
    void start_inNoSuchDirectory_saysSo() throws IOException {
        Path absent = directory.resolve("absent");
        assertRefused(
                Command.of("true").withDirectory(absent),
                "ENOENT (2): the directory " + absent + " does not exist");
        Path file = Files.writeString(directory.resolve("file"), "");
        assertRefused(
                Command.of("true").withDirectory(file),
                "ENOTDIR (20): " + file + " is not a directory");
        assertRefused(
                Command.of("gyre-no-such-command").withDirectory(directory),
                "ENOENT (2): no such command on the PATH");
    }

    @Test
    @Clause("Y-1")
    void directory_whoseNameIsNotText_isWhereTheProgramStarts() throws IOException {
        byte[] name = {'n', (byte) 0xFF, (byte) 0xC3, '%', ' ', '\n'};
        Path odd = Files.createDirectory(directory.resolve(FileNames.name(name)));
        Files.createFile(odd.resolve("here"));
        assertThat(outputOf(Command.of("ls").withDirectory(odd)).lines()).containsExactly("here");
        assertRefused(
                Command.of("gyre-no-such-command").withDirectory(odd),
                "ENOENT (2): no such command on the PATH");
        Path absent = directory.resolve(FileNames.name(new byte[] {(byte) 0xFE}));
        assertRefused(
                Command.of("true").withDirectory(absent),
                "ENOENT (2): the directory " + absent + " does not exist");
    }

    @Test
    @Clause("Y-1")
    void start_ofAFileThatIsNotInTheDirectory_namesTheDirectory() {
        assertRefused(
                Command.of("./absent").withDirectory(directory),
                "ENOENT (2): no such file, relative to "
                        + directory
                        + ", or its first line names an interpreter that does not exist");
    }

    @Test
    @Clause("Y-1")
    void start_ofWhatIsNoProgram_saysSo() throws IOException {
        Path file = Files.writeString(directory.resolve("plain"), "text");
        assertRefused(
                Command.of(file.toString()),
                "EACCES (13): no permission to execute it: check that it is a file with the x bit"
                        + " set");
        Path text = script("text", "text");
        assertRefused(
                Command.of(text.toString()),
                "ENOEXEC (8): neither a program for this machine nor a script that begins with"
                        + " #!");
    }

    @Test
    @Clause("Y-1")
    void start_withTooMuchToSay_saysSo() {
        assertRefused(
                Command.of("true", "x".repeat(1 << 20)),
                "E2BIG (7): the arguments and the environment are too long: use a file");
    }

    @Test
    @Clause("Y-1")
    void command_thatCannotBeMeant_isRefusedAtOnce() {
        assertThatThrownBy(() -> Command.of(""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("empty");
        assertThatThrownBy(() -> Command.of(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("needs a program");
        assertThatThrownBy(() -> Command.of("echo", "fine", "cut\0off"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("argument 2 of echo")
                .hasMessageContaining("index 3");
        assertThatThrownBy(() -> Command.of("echo", "\ud800"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("argument 1 of echo");
        Command command = Command.of("echo");
        for (String name : List.of("", "A=B", "A\0")) {
            assertThatThrownBy(() -> command.withEnvironment(name, "x"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> command.withoutEnvironment(name))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> command.withEnvironment("A", "x\0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("variable A");
    }

    @Test
    @Clause("Y-1")
    void with_returnsACopyAndLeavesTheOriginal() {
        Command plain = Command.of("echo", "a");
        Command changed =
                plain.withArguments(List.of("b"))
                        .withInput(Stdio.NULL)
                        .withErrorToOutput()
                        .withOwnGroup()
                        .withEnvironment("SECRET", "s");
        assertThat(plain).hasToString("echo a");
        assertThat(plain.input()).isEqualTo(Stdio.INHERIT);
        assertThat(plain.ownGroup()).isFalse();
        assertThat(plain.environment()).isEmpty();
        assertThat(changed).hasToString("echo a b");
        assertThat(changed.errorToOutput()).isTrue();
        assertThat(changed.withError(Stdio.NULL).errorToOutput()).isFalse();
    }
}
