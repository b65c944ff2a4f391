package dev.gyre.bench.echo;

/// A server's first line, by which the script that started it knows what has become of it.
public final class Announcement {
    private Announcement() {}

    /// Connections are accepted from now on.
    public static void listening(int port) {
        say("listening " + port);
    }

    /// This machine cannot run the server, and that is no fault: its row says why, and the others go on.
    public static void declines(String reason) {
        say("declines " + reason.lines().findFirst().orElse("without a reason"));
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
