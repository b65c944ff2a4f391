/// Tasks from other threads, and a result back: a loop is an Executor.
import dev.gyre.EventLoop;

int counter; // Touched by the loop thread only: no lock, no atomic.

void main() {
    try (var loop = EventLoop.open()) {
        Thread.startVirtualThread(() -> countAndAsk(loop));
        loop.run();
    }
}

void countAndAsk(EventLoop loop) {
    try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int worker = 0; worker < 4; worker++) {
            workers.execute(() -> countToAHundred(loop));
        }
    } // Closing waits for the workers.
    int total = CompletableFuture.supplyAsync(() -> counter, loop).join();
    IO.println("four threads counted to " + total);
    loop.stop();
}

void countToAHundred(EventLoop loop) {
    for (int i = 0; i < 100; i++) {
        loop.submit(() -> counter++); // Any thread; never waits for the loop.
    }
}
