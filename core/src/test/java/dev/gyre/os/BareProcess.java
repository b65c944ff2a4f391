package dev.gyre.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gyre.EventLoop;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A program for [BareProcessTest]: starts children in a process without standard streams or with
/// ignored signals, and writes the results to a file.
final class BareProcess {
    private BareProcess() {}

    public static void main(String[] arguments) throws Throwable {
        String found =
                switch (arguments[0]) {
                    case "without-streams" -> withoutStreams();
                    case "ignoring-children" -> ignoringChildren();
                    default -> throw new IllegalArgumentException(arguments[0]);
                };
        Files.writeString(Path.of(arguments[1]), found);
    }

    /// Pipes are opened at the lowest free numbers: here at 0, 1 and 2.
    private static String withoutStreams() {
        LinuxPollCalls kernel = new LinuxPollCalls();
        try (EventLoop loop = GuardedLoop.open()) {
            // Loads the classes first, or their files would get the free numbers.
            String with = allThree(loop) + errorAlone(loop);
            for (int fd = 0; fd < 3; fd++) {
                int _ = kernel.close(fd);
            }
            FdPair lowest = new FdPair();
            int _ = kernel.pipe2(lowest.address(), 0);
            int _ = kernel.close(lowest.first());
            int _ = kernel.close(lowest.second());
            String without = errorAlone(loop) + allThree(loop);
            return with + lowest.first() + lowest.second() + "\n" + without;
        }
    }

    private static String allThree(EventLoop loop) {
        ChildProcess child =
                ChildProcess.start(
                        loop,
                        Command.of("sh", "-c", "cat; echo error >&2")
                                .withInput(Stdio.PIPE)
                                .withOutput(Stdio.PIPE)
                                .withError(Stdio.PIPE));
        Collected output = Collected.from(loop, child.output());
        Collected error = Collected.from(loop, child.error());
        int _ = child.input().write(ByteBuffer.wrap("input\n".getBytes(StandardCharsets.UTF_8)));
        child.input().close();
        loop.runUntilEmpty();
        return output.text() + error.text();
    }

    /// Its pipe gets the number that standard output is moved to first.
    private static String errorAlone(EventLoop loop) {
        ChildProcess child =
                ChildProcess.start(
                        loop,
                        Command.of("sh", "-c", "echo alone >&2")
                                .withInput(Stdio.NULL)
                                .withOutput(Stdio.NULL)
                                .withError(Stdio.PIPE));
        Collected error = Collected.from(loop, child.error());
        loop.runUntilEmpty();
        return error.text();
    }

    private static String ignoringChildren() throws Throwable {
        ignoreSigchld();
        try (EventLoop loop = GuardedLoop.open()) {
            List<Exit> reported = new ArrayList<>();
            Command status = Command.of("grep", "SigIgn", "/proc/self/status");
            ChildProcess child =
                    ChildProcess.start(loop, status.withOutput(Stdio.PIPE)).onExit(reported::add);
            Collected output = Collected.from(loop, child.output());
            loop.runUntilEmpty();
            return reported + " " + output.text();
        }
    }

    /// As if the parent of this process had done so.
    @SuppressWarnings("restricted") // a test's own call
    private static void ignoreSigchld() throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle signal =
                linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("signal"),
                        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG));
        long ignore = 1;
        long _ = (long) signal.invokeExact(Signal.SIGCHLD.number(), ignore);
    }
}
