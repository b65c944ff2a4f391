package dev.gyre.cli;

/// Describes why a loop cannot be opened, or failed.
final class LoopErrors {
    private LoopErrors() {}

    static String line(Throwable why) {
        // The type of a linkage error is part of its description.
        String message = why instanceof LinkageError ? null : why.getMessage();
        Object detail = message == null ? why : message;
        return "The event loop failed (run gyre doctor for details): " + detail;
    }
}
