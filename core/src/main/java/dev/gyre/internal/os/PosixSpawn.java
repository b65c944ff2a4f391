package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.CStrings;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileNames;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.ProcessCalls;
import dev.gyre.internal.sys.ProcessCalls.SpawnStructs;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Command;
import dev.gyre.os.Signal;
import dev.gyre.os.Stdio;

import java.io.File;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/// Starts a command with `posix_spawnp`.
final class PosixSpawn {
    /// The signals that the child must not inherit as ignored. The start resets signals with a
    /// handler, but ignored ones stay ignored, and most programs do not expect these three to be.
    /// Other signals are ignored on behalf of the child too: SIGHUP by `nohup`, SIGINT by a shell's
    /// `&`.
    private static final Signal[] TO_DEFAULT = {Signal.SIGPIPE, Signal.SIGXFSZ, Signal.SIGCHLD};

    private final ProcessCalls processes;
    private final Command command;
    private final ChildStdio stdio;
    private final SpawnStructs structs = new SpawnStructs();
    private final CStrings paths;
    private final CStrings arguments;
    private final CStrings environment;

    private PosixSpawn(ProcessCalls processes, Command command, ChildStdio stdio) {
        this.processes = processes;
        this.command = command;
        this.stdio = stdio;
        Path directory = command.directory();
        paths =
                new CStrings(
                        List.of(
                                CStrings.encode("path", "/dev/null"),
                                directory == null ? new byte[0] : FileNames.bytes(directory)));
        List<byte[]> words = new ArrayList<>();
        words.add(CStrings.encode("program", command.program()));
        command.arguments().forEach(each -> words.add(CStrings.encode("argument", each)));
        arguments = new CStrings(words);
        environment = new CStrings(environmentOf(command));
    }

    /// Returns the process id.
    static int start(
            Supplier<? extends ProcessCalls> processes, Command command, ChildStdio stdio) {
        PosixSpawn spawn = new PosixSpawn(processes.get(), command, stdio);
        try {
            return spawn.withActions();
        } finally {
            Reference.reachabilityFence(spawn); // libc holds only addresses of its memory.
        }
    }

    private int withActions() {
        long actions = structs.actions();
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
        long attributes = structs.attributes();
        require("posix_spawnattr_init", processes.attributesInit(attributes));
        try {
            setAttributes();
            int result =
                    processes.spawn(
                            arguments.addressOf(0),
                            structs.actions(),
                            attributes,
                            arguments.address(),
                            environment.address());
            if (result < 0) {
                throw new SystemCallException(
                        "posix_spawnp",
                        -result,
                        "cannot start '" + command.program() + "'",
                        hint(-result));
            }
            return result;
        } finally {
            int _ = processes.attributesDestroy(attributes);
        }
    }

    private void connectStreams() {
        Stdio[] wanted = {command.input(), command.output(), command.error()};
        for (int stream = 0; stream < ChildStdio.COUNT; stream++) {
            Descriptor end = stdio.childEnds[stream];
            if (stream == 2 && command.errorToOutput()) {
                duplicate(1, 2);
            } else if (end != null) {
                duplicate(end.fd(), stream);
            } else if (wanted[stream] == Stdio.NULL) {
                require(
                        "posix_spawn_file_actions_addopen",
                        processes.fileActionsAddOpen(
                                structs.actions(), stream, paths.addressOf(0), Linux.O_RDWR, 0));
            }
        }
    }

    private void duplicate(int fd, int stream) {
        require(
                "posix_spawn_file_actions_adddup2",
                processes.fileActionsAddDup2(structs.actions(), fd, stream));
    }

    /// Closes all other descriptors, since not all of a JVM's are close-on-exec.
    private void closeTheRest() {
        int result = processes.fileActionsAddCloseFrom(structs.actions(), ChildStdio.COUNT);
        if (result != -Errno.ENOSYS) {
            require("posix_spawn_file_actions_addclosefrom_np", result);
            return;
        }
        // libc ignores descriptors that were closed since they were listed.
        for (int fd : openDescriptors()) {
            if (fd >= ChildStdio.COUNT) {
                require(
                        "posix_spawn_file_actions_addclose",
                        processes.fileActionsAddClose(structs.actions(), fd));
            }
        }
    }

    private static int[] openDescriptors() {
        String[] names = new File("/proc/self/fd").list();
        if (names == null) {
            throw new IllegalStateException(
                    "cannot list the descriptors to close in the child: mount /proc, or use a"
                            + " newer C library (glibc 2.34)");
        }
        return Arrays.stream(names).mapToInt(Integer::parseInt).toArray();
    }

    private void changeDirectory() {
        if (command.directory() == null) {
            return;
        }
        int result = processes.fileActionsAddChdir(structs.actions(), paths.addressOf(1));
        if (result == -Errno.ENOSYS) {
            throw new UnsupportedOperationException(
                    "this C library cannot start '"
                            + command.program()
                            + "' in another directory: use glibc 2.29 or musl 1.1.24, or newer");
        }
        require("posix_spawn_file_actions_addchdir_np", result);
    }

    private void setAttributes() {
        long attributes = structs.attributes();
        int flags = Linux.POSIX_SPAWN_SETSIGMASK | Linux.POSIX_SPAWN_SETSIGDEF;
        require(
                "posix_spawnattr_setsigmask",
                processes.attributesSetSignalMask(attributes, structs.signals()));
        for (Signal signal : TO_DEFAULT) {
            structs.addSignal(signal.number());
        }
        require(
                "posix_spawnattr_setsigdefault",
                processes.attributesSetSignalDefault(attributes, structs.signals()));
        if (command.ownGroup()) {
            flags |= Linux.POSIX_SPAWN_SETPGROUP;
            require("posix_spawnattr_setpgroup", processes.attributesSetGroup(attributes, 0));
        }
        require("posix_spawnattr_setflags", processes.attributesSetFlags(attributes, flags));
    }

    static List<byte[]> environmentOf(Command command) {
        List<byte[]> variables = new ArrayList<>();
        if (command.inheritsEnvironment()) {
            variables.addAll(CStrings.environment());
        }
        command.environment()
                .forEach(
                        (name, value) -> {
                            byte[] start = CStrings.encode("name", name + "=");
                            variables.removeIf(variable -> startsWith(variable, start));
                            value.ifPresent(
                                    text ->
                                            variables.add(
                                                    CStrings.encode(
                                                            "variable", name + "=" + text)));
                        });
        return variables;
    }

    private static boolean startsWith(byte[] bytes, byte[] start) {
        return bytes.length >= start.length
                && Arrays.equals(bytes, 0, start.length, start, 0, start.length);
    }

    private static void require(String call, int result) {
        Errno.require(call, result, SystemCallException.NO_FD);
    }

    private String absenceHint() {
        String program = command.program();
        if (program.indexOf('/') < 0) {
            return "no such command on the PATH";
        }
        Path directory = command.directory();
        String from =
                directory == null || program.startsWith("/") ? "" : ", relative to " + directory;
        return "no such file"
                + from
                + ", or its first line names an interpreter that does not exist";
    }

    private String hint(int errno) {
        Path directory = command.directory();
        // The kernel does not report whether the directory or the program is missing.
        if (directory != null && (errno == Errno.ENOENT || errno == Errno.ENOTDIR)) {
            if (!Files.exists(directory)) {
                return "the directory " + directory + " does not exist";
            }
            if (!Files.isDirectory(directory)) {
                return directory + " is not a directory";
            }
        }
        if (directory != null && errno == Errno.EACCES && !Files.isExecutable(directory)) {
            return "no permission to enter the directory " + directory;
        }
        return switch (errno) {
            case Errno.ENOENT, Errno.ENOTDIR -> absenceHint();
            case Errno.EACCES ->
                    "no permission to execute it: check that it is a file with the x bit set";
            case Errno.ENOEXEC ->
                    "neither a program for this machine nor a script that begins with #!";
            case Errno.E2BIG -> "the arguments and the environment are too long: use a file";
            case Errno.ETXTBSY -> "a process has the file open for writing";
            case Errno.EAGAIN -> "too many processes: raise the limit (ulimit -u), or start fewer";
            default -> Errno.hint("posix_spawnp", errno);
        };
    }
}
