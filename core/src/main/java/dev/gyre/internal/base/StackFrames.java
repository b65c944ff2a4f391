package dev.gyre.internal.base;

import dev.gyre.EventLoop;
import dev.gyre.Promise;

import java.util.List;
import java.util.Optional;

/// Distinguishes the frames of the program from those of Gyre and the JDK.
public final class StackFrames {
    private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.");

    private StackFrames() {}

    /// Returns whether a class belongs to Gyre's implementation.
    public static boolean isInternal(String className) {
        return className.startsWith("dev.gyre.internal.")
                || className.startsWith("dev.gyre.http.internal.")
                || className.equals(EventLoop.class.getName())
                || className.equals(Promise.class.getName());
    }

    /// Returns the innermost frame of the program; empty if the stack has none.
    public static Optional<StackTraceElement> firstUserFrame(List<StackTraceElement> stack) {
        for (StackTraceElement frame : stack) {
            String name = frame.getClassName();
            if (!isInternal(name) && JDK.stream().noneMatch(name::startsWith)) {
                return Optional.of(frame);
            }
        }
        return Optional.empty();
    }
}
