package dev.gyre.bench.echo;

/// Gyre's echo server: `GyreEcho --backend epoll|io_uring`. Declines as long as the loop has no
/// operations on streams.
public final class GyreEcho {
    private GyreEcho() {}

    public static void main(String[] args) {
        String backend = args.length == 2 && args[0].equals("--backend") ? args[1] : "";
        switch (backend) {
            case "epoll", "io_uring" -> serve(backend);
            default -> {
                System.err.println("usage: GyreEcho --backend epoll|io_uring");
                System.exit(2);
            }
        }
    }

    private static void serve(String backend) {
        Announcement.declines("Gyre has no operations on streams yet, on " + backend + " or any");
    }
}
