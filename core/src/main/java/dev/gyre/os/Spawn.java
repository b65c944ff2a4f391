package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.CStrings;
import dev.gyre.internal.sys.Environment;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileNames;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.NativeText;
import dev.gyre.internal.sys.ProcessCalls;
import dev.gyre.internal.sys.SpawnMemory;
import dev.gyre.io.Descriptor;

import java.io.File;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/// One start of one command: says to `posix_spawnp` what the command says.
final class Spawn {
    /// The signals that the child must not find ignored. What the JVM handles is reset by the
    /// start anyway, but what is ignored stays so; these three would break programs that never
    /// think of them. Others are ignored by somebody who meant the child too: SIGHUP by `nohup`,
    /// SIGINT by a shell's `&`.
    private static final Signal[] TO_DEFAULT = {Signal.SIGPIPE, Signal.SIGXFSZ, Signal.SIGCHLD};

    private final ProcessCalls processes;
    private final Command command;
    private final StandardStreams streams;
    private final SpawnMemory memory = new SpawnMemory();
    private final CStrings paths;
    private final CStrings arguments;
    private final CStrings environment;

    private Spawn(ProcessCalls processes, Command command, StandardStreams streams) {
        this.processes = processes;
        this.command = command;
        this.streams = streams;
        Path directory = command.directory();
        paths =
                new CStrings(
                        List.of(
                                NativeText.encode("path", "/dev/null"),
                                directory == null ? new byte[0] : FileNames.bytes(directory)));
        List<byte[]> words = new ArrayList<>();
        words.add(NativeText.encode("program", command.program()));
        command.arguments().forEach(each -> words.add(NativeText.encode("argument", each)));
        arguments = new CStrings(words);
        environment = new CStrings(environmentOf(command));
    }

    /// Starts the command.
    ///
    /// @return the process id
    static int start(
            Supplier<? extends ProcessCalls> processes, Command command, StandardStreams streams) {
        Spawn spawn = new Spawn(processes.get(), command, streams);
        try {
            return spawn.withActions();
        } finally {
            Reference.reachabilityFence(spawn); // Its memory is known to libc by address only.
        }
    }

    private int withActions() {
        long actions = memory.actions();
        require("posix_spawn_file_actions_init", processes.fileActionsInit(actions));
        try {
            connectStreams();
            closeTheRest();
            changeDirectory();
            return withAttributes();
        } finally {
            int _ = processes.fileActionsDestroy(actions);
        }
    }

    private int withAttributes() {
        long attributes = memory.attributes();
        require("posix_spawnattr_init", processes.attributesInit(attributes));
        try {
            setAttributes();
            int result =
                    processes.spawn(
                            arguments.addressOf(0),
                            memory.actions(),
                            attributes,
                            arguments.address(),
                            environment.address());
            if (result < 0) {
                throw refusal(-result);
            }
            return result;
        } finally {
            int _ = processes.attributesDestroy(attributes);
        }
    }

    // ------------------------------------------------------------------ what the child finds

    private void connectStreams() {
        Stdio[] wanted = {command.input(), command.output(), command.error()};
        for (int stream = 0; stream < StandardStreams.COUNT; stream++) {
            Descriptor end = streams.theirs(stream);
            if (stream == 2 && command.errorToOutput()) {
                duplicate(1, 2);
            } else if (end != null) {
                duplicate(end.fd(), stream);
            } else if (wanted[stream] == Stdio.NULL) {
                require(
                        "posix_spawn_file_actions_addopen",
                        processes.fileActionsAddOpen(
                                memory.actions(), stream, paths.addressOf(0), Linux.O_RDWR, 0));
            }
        }
    }

    private void duplicate(int fd, int stream) {
        require(
                "posix_spawn_file_actions_adddup2",
                processes.fileActionsAddDup2(memory.actions(), fd, stream));
    }

    /// Not everything in a JVM is closed by itself when another program starts.
    private void closeTheRest() {
        int result = processes.fileActionsAddCloseFrom(memory.actions(), StandardStreams.COUNT);
        if (result != -Errno.ENOSYS) {
            require("posix_spawn_file_actions_addclosefrom_np", result);
            return;
        }
        // Numbers that were closed since they were listed do no harm: libc passes them over.
        for (int fd : openNumbers()) {
            if (fd >= StandardStreams.COUNT) {
                require(
                        "posix_spawn_file_actions_addclose",
                        processes.fileActionsAddClose(memory.actions(), fd));
            }
        }
    }

    private static int[] openNumbers() {
        String[] names = new File("/proc/self/fd").list();
        if (names == null) {
            throw new IllegalStateException(
                    "cannot tell which descriptors to keep from the child: mount /proc, or use a"
                            + " newer C library (glibc 2.34)");
        }
        return Arrays.stream(names).mapToInt(Integer::parseInt).toArray();
    }

    private void changeDirectory() {
        if (command.directory() == null) {
            return;
        }
        int result = processes.fileActionsAddChdir(memory.actions(), paths.addressOf(1));
        if (result == -Errno.ENOSYS) {
            throw new UnsupportedOperationException(
                    "this C library cannot start '"
                            + command.program()
                            + "' in another directory: that takes glibc 2.29 or musl 1.1.24");
        }
        require("posix_spawn_file_actions_addchdir_np", result);
    }

    private void setAttributes() {
        long attributes = memory.attributes();
        int flags = Linux.POSIX_SPAWN_SETSIGMASK | Linux.POSIX_SPAWN_SETSIGDEF;
        require(
                "posix_spawnattr_setsigmask",
                processes.attributesSetSignalMask(attributes, memory.signals()));
        for (Signal signal : TO_DEFAULT) {
            memory.addSignal(signal.number());
        }
        require(
                "posix_spawnattr_setsigdefault",
                processes.attributesSetSignalDefault(attributes, memory.signals()));
        if (command.ownGroup()) {
            flags |= Linux.POSIX_SPAWN_SETPGROUP;
            require("posix_spawnattr_setpgroup", processes.attributesSetGroup(attributes, 0));
        }
        require("posix_spawnattr_setflags", processes.attributesSetFlags(attributes, flags));
    }

    static List<byte[]> environmentOf(Command command) {
        List<byte[]> variables = new ArrayList<>();
        if (command.inheritsEnvironment()) {
            variables.addAll(Environment.variables());
        }
        command.environment()
                .forEach(
                        (name, value) -> {
                            byte[] start = NativeText.encode("name", name + "=");
                            variables.removeIf(variable -> startsWith(variable, start));
                            value.ifPresent(
                                    text ->
                                            variables.add(
                                                    NativeText.encode(
                                                            "variable", name + "=" + text)));
                        });
        return variables;
    }

    private static boolean startsWith(byte[] bytes, byte[] start) {
        return bytes.length >= start.length
                && Arrays.equals(bytes, 0, start.length, start, 0, start.length);
    }

    // ------------------------------------------------------------------ refusals

    private static void require(String call, int result) {
        if (result < 0) {
            throw new SystemCallException(call, -result, SystemCallException.NO_FD);
        }
    }

    private SystemCallException refusal(int errno) {
        return new SystemCallException(
                "posix_spawnp", errno, "cannot start '" + command.program() + "'", hint(errno));
    }

    private String absenceHint() {
        String program = command.program();
        if (program.indexOf('/') < 0) {
            return "no such command on the PATH";
        }
        Path directory = command.directory();
        String from =
                directory == null || program.startsWith("/") ? "" : ", seen from " + directory;
        return "no such file"
                + from
                + ", or its first line names an interpreter that does not exist";
    }

    private String hint(int errno) {
        Path directory = command.directory();
        // The kernel does not say whether it was the directory or the program.
        if (directory != null && (errno == Errno.ENOENT || errno == Errno.ENOTDIR)) {
            if (!Files.exists(directory)) {
                return "there is no directory " + directory + " to start it in";
            }
            if (!Files.isDirectory(directory)) {
                return directory + " is no directory to start it in";
            }
        }
        if (directory != null && errno == Errno.EACCES && !Files.isExecutable(directory)) {
            return "not allowed to enter the directory " + directory;
        }
        return switch (errno) {
            case Errno.ENOENT, Errno.ENOTDIR -> absenceHint();
            case Errno.EACCES -> "not allowed to execute it: is it a file with the x bit set?";
            case Errno.ENOEXEC ->
                    "neither a program for this machine nor a script that begins with #!";
            case Errno.E2BIG -> "the arguments and the environment are too long: use a file";
            case Errno.ETXTBSY -> "somebody has the file open for writing";
            case Errno.EAGAIN -> "too many processes: raise the limit (ulimit -u), or start fewer";
            default -> Errno.hint("posix_spawnp", errno);
        };
    }
}
