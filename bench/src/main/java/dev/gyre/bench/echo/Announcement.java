package dev.gyre.bench.echo;

/// A server's first line, which reports its start to the script.
public final class Announcement {
    private Announcement() {}

    /// Announces that connections are accepted.
    public static void listening(int port) {
        say("listening " + port);
    }

    /// Announces that this machine cannot run the server. The row shows the reason; the run
    /// continues.
    public static void declines(String reason) {
        say("declines " + reason.lines().findFirst().orElse("without a reason"));
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
