/// Bounded blocking work: two run at a time, three wait, and further work is rejected.
import dev.gyre.BoundedExecutor;
import dev.gyre.EventLoop;
import dev.gyre.Promise;

final BoundedExecutor workers = BoundedExecutor.bounded(2, 3);
final CountDownLatch start = new CountDownLatch(1);

void main() {
    try (var loop = EventLoop.open()) {
        var copies = IntStream.rangeClosed(1, 6).mapToObj(n -> copy(loop, n)).toList();
        Promise.all(loop, copies).thenAccept(all -> all.forEach(IO::println));
        IO.println(workers);
        start.countDown();
        loop.runUntilEmpty();
    }
}

Promise<String> copy(EventLoop loop, int number) {
    return loop.promisify(workers, _ -> slowCopy(number))
            .recover(RejectedExecutionException.class, full -> "copy " + number + " rejected");
}

/// Blocking code, such as disk access.
String slowCopy(int number) throws InterruptedException {
    start.await();
    return "copy " + number;
}
