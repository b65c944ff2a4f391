package dev.gyre.os;

import dev.gyre.internal.sys.CStrings;

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
import java.util.function.Consumer;

/// A program to start, with its arguments, environment and streams. Immutable: each `with` method
/// returns a changed copy.
///
/// ```java
/// var sort = Command.of("sort", "-u").withInput(Stdio.PIPE).withOutput(Stdio.PIPE);
/// ```
///
/// By default the program inherits the directory, environment, standard streams and process group
/// of this process. It never inherits another descriptor, a blocked signal, or an ignored SIGPIPE,
/// SIGXFSZ or SIGCHLD.
///
/// Text is passed in the encoding of the locale, or UTF-8 if that is plain ASCII. Text that is not
/// encodable, or has a NUL character, is rejected here with an [IllegalArgumentException], not at
/// the start. No shell is involved: `*`, `$` and quotes are plain characters.
public final class Command implements Cloneable {
    private final String program;
    private List<String> arguments = List.of();
    private @Nullable Path directory;
    private boolean inheritsEnvironment = true;

    /// From name to value; empty for a removed variable.
    private Map<String, Optional<String>> environment = Map.of();

    private Stdio input = Stdio.INHERIT;
    private Stdio output = Stdio.INHERIT;
    private Stdio error = Stdio.INHERIT;
    private boolean errorToOutput;
    private boolean ownGroup;

    private Command(String program) {
        this.program = program;
    }

    /// Creates a command.
    ///
    /// @param program a name that is searched on the `PATH` of this process; with a slash in it a
    ///     file, relative to the directory of the command
    /// @throws IllegalArgumentException if the program is empty
    public static Command of(String program, String... arguments) {
        Objects.requireNonNull(program, "program");
        if (program.isEmpty()) {
            throw new IllegalArgumentException("the program of a command must not be empty");
        }
        requireEncodable("the program", program);
        return new Command(program).withArguments(List.of(arguments));
    }

    /// Creates a command from a program and its arguments in one list.
    ///
    /// @throws IllegalArgumentException if the list or the program is empty
    public static Command of(List<String> words) {
        if (words.isEmpty()) {
            throw new IllegalArgumentException("a command needs a program, but the list is empty");
        }
        return of(words.getFirst()).withArguments(words.subList(1, words.size()));
    }

    /// Returns a copy with these arguments appended.
    public Command withArguments(List<String> more) {
        List<String> all = new ArrayList<>(arguments);
        for (String argument : more) {
            Objects.requireNonNull(argument, "argument");
            requireEncodable("argument " + (all.size() + 1) + " of " + program, argument);
            all.add(argument);
        }
        return with(copy -> copy.arguments = List.copyOf(all));
    }

    /// Returns a copy that starts in this directory, whose name need not be text. Its existence is
    /// checked at the start.
    ///
    /// @throws IllegalArgumentException if the path is not of the default file system
    public Command withDirectory(Path directory) {
        Objects.requireNonNull(directory, "directory");
        if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
            throw new IllegalArgumentException(
                    "a command cannot start outside the default file system: " + directory.toUri());
        }
        return with(copy -> copy.directory = directory);
    }

    /// Returns a copy with this variable in its environment. `PATH` does not affect the search for
    /// the program itself.
    ///
    /// @throws IllegalArgumentException if the name is empty or contains `=`
    public Command withEnvironment(String name, String value) {
        Objects.requireNonNull(value, "value");
        requireEncodable("variable " + name, value);
        return withVariable(name, Optional.of(value));
    }

    /// Returns a copy without this variable in its environment.
    ///
    /// @throws IllegalArgumentException if the name is empty or contains `=`
    public Command withoutEnvironment(String name) {
        return withVariable(name, Optional.empty());
    }

    /// Returns a copy with an empty environment.
    public Command withoutEnvironment() {
        return with(
                copy -> {
                    copy.inheritsEnvironment = false;
                    copy.environment = Map.of();
                });
    }

    private Command withVariable(String name, Optional<String> value) {
        Objects.requireNonNull(name, "name");
        if (name.isEmpty() || name.indexOf('=') >= 0) {
            throw new IllegalArgumentException(
                    "the name of a variable must not be empty or contain '=': '" + name + "'");
        }
        requireEncodable("the name of a variable", name);
        Map<String, Optional<String>> changed = new LinkedHashMap<>(environment);
        changed.put(name, value);
        return with(copy -> copy.environment = Collections.unmodifiableMap(changed));
    }

    /// Returns a copy with this standard input.
    public Command withInput(Stdio input) {
        Objects.requireNonNull(input, "input");
        return with(copy -> copy.input = input);
    }

    /// Returns a copy with this standard output.
    public Command withOutput(Stdio output) {
        Objects.requireNonNull(output, "output");
        return with(copy -> copy.output = output);
    }

    /// Returns a copy with this standard error.
    public Command withError(Stdio error) {
        Objects.requireNonNull(error, "error");
        return with(
                copy -> {
                    copy.error = error;
                    copy.errorToOutput = false;
                });
    }

    /// Returns a copy whose standard error is merged into its standard output, in the order of the
    /// writes.
    public Command withErrorToOutput() {
        return with(copy -> copy.errorToOutput = true);
    }

    /// Returns a copy that starts in a process group of its own. Its descendants join the group, so
    /// [ChildProcess#signalGroup] reaches all of them. Signals of the terminal, such as Ctrl-C, do
    /// not reach it.
    public Command withOwnGroup() {
        return with(copy -> copy.ownGroup = true);
    }

    /// Returns the program.
    public String program() {
        return program;
    }

    /// Returns the arguments.
    public List<String> arguments() {
        return arguments;
    }

    /// Returns the directory to start in; `null` for that of this process.
    public @Nullable Path directory() {
        return directory;
    }

    /// Returns whether the environment of this process is inherited.
    public boolean inheritsEnvironment() {
        return inheritsEnvironment;
    }

    /// Returns the changes of the environment, by name; an empty value removes the variable.
    public Map<String, Optional<String>> environment() {
        return environment;
    }

    /// Returns the target of the standard input.
    public Stdio input() {
        return input;
    }

    /// Returns the target of the standard output.
    public Stdio output() {
        return output;
    }

    /// Returns the target of the standard error, unless [#errorToOutput()].
    public Stdio error() {
        return error;
    }

    /// Returns whether the standard error is merged into the standard output.
    public boolean errorToOutput() {
        return errorToOutput;
    }

    /// Returns whether the command starts in a process group of its own.
    public boolean ownGroup() {
        return ownGroup;
    }

    private static void requireEncodable(String what, String text) {
        byte[] _ = CStrings.encode(what, text);
    }

    private Command with(Consumer<Command> change) {
        try {
            Command copy = (Command) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("Command is Cloneable", e);
        }
    }

    /// Returns the program and its arguments. The environment, which may hold secrets, is omitted.
    @Override
    public String toString() {
        return arguments.isEmpty() ? program : program + " " + String.join(" ", arguments);
    }
}
