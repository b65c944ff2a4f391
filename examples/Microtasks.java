/// The order of callbacks: microtasks before the next task, deferred callbacks before the loop
/// polls, timers in a later tick.
import dev.gyre.EventLoop;

void main() {
    try (var loop = EventLoop.open()) {
        loop.submit(
                () -> {
                    loop.after(Duration.ZERO, timer -> IO.println("5 timer"));
                    loop.defer(() -> IO.println("4 deferred"));
                    loop.microtask(() -> IO.println("2 microtask"));
                    IO.println("1 first task");
                });
        loop.submit(() -> IO.println("3 second task"));
        loop.runUntilEmpty();
    }
}
