/// A value that comes later: from work outside the loop, by steps on it, to a thread that waits.
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

    IO.println("begun, and nothing has come yet");
    Thread.startVirtualThread(() -> print(loop, words, letter, reply));
}

/// On another thread, which may wait. On the loop's own `await` throws: it would wait for itself.
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

/// Blocking code, as of a data base.
String read(String name) {
    if (name.equals("poem")) {
        return "so much depends upon";
    }
    throw new NoSuchElementException(name);
}
