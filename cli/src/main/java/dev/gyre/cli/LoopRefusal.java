package dev.gyre.cli;

/// What to say when a loop cannot be opened, or cannot go on.
final class LoopRefusal {
    private LoopRefusal() {}

    static String line(Throwable why) {
        // What a class could not be loaded for is told by the kind of its error too.
        String message = why instanceof LinkageError ? null : why.getMessage();
        Object told = message == null ? why : message;
        return "The loop could not go on (gyre doctor tells more): " + told;
    }
}
