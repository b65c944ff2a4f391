/// Cancels work at a deadline, and on request.
import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.EventLoop;
import dev.gyre.Promise;

void main() {
    try (var loop = EventLoop.open()) {
        var user = new CancellationSource();
        var soon = Cancellation.after(loop, Duration.ofMillis(100));
        var either = Cancellation.anyOf(user.cancellation(), soon);
        search(loop, "first search", either).thenAccept(done -> searchAgain(loop, user));
        loop.runUntilEmpty();
    }
}

void searchAgain(EventLoop loop, CancellationSource user) {
    var request = CancellationSource.linkedTo(user.cancellation());
    search(loop, "second search", request.cancellation());
    loop.every(Duration.ofHours(1), timer -> IO.println("still searching"))
            .cancelOn(request.cancellation());
    user.cancel("the user left"); // Cancels all linked tokens too.
}

Promise<?> search(EventLoop loop, String name, Cancellation cancellation) {
    return loop.promisify(cancellation, this::dig)
            .recover(CancelledException.class, Throwable::getMessage)
            .thenAccept(result -> IO.println(name + ": " + result));
}

/// The interrupt ends blocking code. CPU-bound code must check the token.
String dig(Cancellation cancellation) {
    for (long depth = 0; ; depth++) {
        cancellation.throwIfCancelled();
    }
}
