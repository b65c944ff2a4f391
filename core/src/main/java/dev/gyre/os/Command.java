package dev.gyre.os;

import dev.gyre.internal.sys.NativeText;

import org.jspecify.annotations.Nullable;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/// A program to start, and what it is to find when it starts. Immutable: each `with` method
/// returns a changed copy.
///
/// ```java
/// var sort = Command.of("sort", "-u").withInput(Stdio.PIPE).withOutput(Stdio.PIPE);
/// ```
///
/// Unless said otherwise the program gets this process's directory, environment and standard
/// streams, and is in its process group. It never gets any other descriptor, blocked signals, or a
/// SIGPIPE, SIGXFSZ or SIGCHLD that is ignored.
///
/// Text goes to the program in the encoding of the locale, or UTF-8 if that is plain ASCII. Text
/// that cannot be told that way, and a NUL character, which would end it, is refused with an
/// [IllegalArgumentException] here and not when the command is started. The shell has no part in
/// it: `*`, `$` and quotes are characters.
public final class Command implements Cloneable {
    private final String program;
    private List<String> arguments = List.of();
    private @Nullable Path directory;
    private boolean inheritsEnvironment = true;

    /// From name to value; a variable that is to be absent has none.
    private Map<String, Optional<String>> environment = Map.of();

    private Stdio input = Stdio.INHERIT;
    private Stdio output = Stdio.INHERIT;
    private Stdio error = Stdio.INHERIT;
    private boolean errorToOutput;
    private boolean ownGroup;

    private Command(String program) {
        this.program = program;
    }

    /// A program with its arguments.
    ///
    /// @param program a name to be looked up on this process's `PATH`, or, if there is a slash in
    ///     it, a file; a relative one is looked up from the command's directory
    /// @throws IllegalArgumentException if the program is empty
    public static Command of(String program, String... arguments) {
        Objects.requireNonNull(program, "program");
        if (program.isEmpty()) {
            throw new IllegalArgumentException("a command needs a program, but its name is empty");
        }
        requireText("the program's name", program);
        return new Command(program).withArguments(List.of(arguments));
    }

    /// A program and its arguments, as `main` is given them, or a user's configuration.
    ///
    /// @throws IllegalArgumentException if there is no program, or its name is empty
    public static Command of(List<String> words) {
        if (words.isEmpty()) {
            throw new IllegalArgumentException("a command needs a program, but there is no word");
        }
        return of(words.getFirst()).withArguments(words.subList(1, words.size()));
    }

    /// A copy with these arguments behind those it has.
    public Command withArguments(List<String> more) {
        List<String> all = new ArrayList<>(arguments);
        for (String argument : more) {
            Objects.requireNonNull(argument, "argument");
            requireText("argument " + (all.size() + 1) + " of " + program, argument);
            all.add(argument);
        }
        Command copy = copy();
        copy.arguments = List.copyOf(all);
        return copy;
    }

    /// A copy that starts in this directory, whose name need not be text. Whether there is such a
    /// directory is found out at the start.
    ///
    /// @throws IllegalArgumentException if it is in a file system that the kernel does not know
    public Command withDirectory(Path directory) {
        Objects.requireNonNull(directory, "directory");
        if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
            throw new IllegalArgumentException(
                    "a command starts in a directory of the kernel's, not in " + directory.toUri());
        }
        Command copy = copy();
        copy.directory = directory;
        return copy;
    }

    /// A copy with this variable in its environment. It does not change where the program itself
    /// is looked up, even if it is `PATH`.
    ///
    /// @throws IllegalArgumentException if the name is empty or has a `=` in it
    public Command withEnvironment(String name, String value) {
        Objects.requireNonNull(value, "value");
        requireText("variable " + name, value);
        return withVariable(name, Optional.of(value));
    }

    /// A copy without this variable in its environment.
    ///
    /// @throws IllegalArgumentException if the name is empty or has a `=` in it
    public Command withoutEnvironment(String name) {
        return withVariable(name, Optional.empty());
    }

    /// A copy with nothing in its environment, to add to.
    public Command withoutEnvironment() {
        Command copy = copy();
        copy.inheritsEnvironment = false;
        copy.environment = Map.of();
        return copy;
    }

    private Command withVariable(String name, Optional<String> value) {
        Objects.requireNonNull(name, "name");
        if (name.isEmpty() || name.indexOf('=') >= 0) {
            throw new IllegalArgumentException(
                    "the name of a variable is not empty and has no '=', unlike '" + name + "'");
        }
        requireText("the name of a variable", name);
        Map<String, Optional<String>> changed = new LinkedHashMap<>(environment);
        changed.put(name, value);
        Command copy = copy();
        copy.environment = Collections.unmodifiableMap(changed);
        return copy;
    }

    /// A copy with this standard input.
    public Command withInput(Stdio input) {
        Objects.requireNonNull(input, "input");
        Command copy = copy();
        copy.input = input;
        return copy;
    }

    /// A copy with this standard output.
    public Command withOutput(Stdio output) {
        Objects.requireNonNull(output, "output");
        Command copy = copy();
        copy.output = output;
        return copy;
    }

    /// A copy with this standard error.
    public Command withError(Stdio error) {
        Objects.requireNonNull(error, "error");
        Command copy = copy();
        copy.error = error;
        copy.errorToOutput = false;
        return copy;
    }

    /// A copy whose standard error goes where its standard output goes, in the order it is
    /// written.
    public Command withErrorToOutput() {
        Command copy = copy();
        copy.errorToOutput = true;
        return copy;
    }

    /// A copy that starts in a process group of its own, together with whatever it starts itself,
    /// so that [ChildProcess#signalGroup] reaches them all. The keys of the terminal, such as
    /// Ctrl-C, no longer reach it.
    public Command withOwnGroup() {
        Command copy = copy();
        copy.ownGroup = true;
        return copy;
    }

    String program() {
        return program;
    }

    List<String> arguments() {
        return arguments;
    }

    @Nullable Path directory() {
        return directory;
    }

    boolean inheritsEnvironment() {
        return inheritsEnvironment;
    }

    Map<String, Optional<String>> environment() {
        return environment;
    }

    Stdio input() {
        return input;
    }

    Stdio output() {
        return output;
    }

    Stdio error() {
        return error;
    }

    boolean errorToOutput() {
        return errorToOutput;
    }

    boolean ownGroup() {
        return ownGroup;
    }

    private static void requireText(String what, String text) {
        byte[] _ = NativeText.encode(what, text);
    }

    private Command copy() {
        try {
            return (Command) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("Command is Cloneable", e);
        }
    }

    /// The program and its arguments. What is in its environment stays there.
    @Override
    public String toString() {
        return arguments.isEmpty() ? program : program + " " + String.join(" ", arguments);
    }
}
