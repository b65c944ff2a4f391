/// A graceful shutdown: accepted work completes, later work is rejected, and a report counts the
/// rest.
import dev.gyre.EventLoop;

void main() {
    try (var loop = EventLoop.open()) {
        loop.every(Duration.ofHours(1), timer -> IO.println("never"));
        loop.submit(
                () -> {
                    loop.shutdown(Duration.ofSeconds(1)).thenAccept(report -> IO.println(report));
                    IO.println("a late task: " + loop.trySubmit(() -> IO.println("never")));
                });
        loop.submit(() -> IO.println("an accepted task"));
        loop.run();
        IO.println(loop.state());
    }
}
