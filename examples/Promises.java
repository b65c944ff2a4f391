/// Promises: from work off the loop, through steps on the loop, to a waiting thread.
import dev.gyre.EventLoop;
import dev.gyre.Promise;

void main() {
    try (var loop = EventLoop.open()) {
        loop.submit(() -> begin(loop));
        loop.run();
    }
}

void begin(EventLoop loop) {
    Promise<Integer> words =
            loop.promisify(_ -> read("poem")) // A virtual thread waits,
                    .then(text -> text.split(" ").length); // and the loop continues.

    Promise<String> letter =
            loop.promisify(_ -> read("letter"))
                    .recover(NoSuchElementException.class, e -> "no " + e.getMessage());

    Promise<String> reply =
            loop.<String>deferred() // Never settled, to show the timeout.
                    .promise()
                    .orTimeout(Duration.ofMillis(100))
                    .recover(TimeoutException.class, late -> "no reply");

    IO.println("started, no result yet");
    Thread.startVirtualThread(() -> print(loop, words, letter, reply));
}

/// Runs on another thread, which may block. On the loop thread `await` throws.
void print(EventLoop loop, Promise<?>... promises) {
    try {
        for (Promise<?> promise : promises) {
            IO.println(promise.await());
        }
    } catch (InterruptedException e) {
        IO.println("interrupted");
    } finally {
        loop.stop();
    }
}

/// Blocking code, such as a database driver.
String read(String name) {
    if (name.equals("poem")) {
        return "so much depends upon";
    }
    throw new NoSuchElementException(name);
}
