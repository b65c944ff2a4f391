/// Asks three shops concurrently and selects the best offer within a deadline: with promises.
import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.EventLoop;
import dev.gyre.Promise;

record Offer(String shop, int price) {}

void main() {
    try (var loop = EventLoop.open()) {
        var deadline = Cancellation.after(loop, Duration.ofSeconds(3));
        var offers =
                Stream.of("corner", "market", "island")
                        .map(shop -> visit(loop, deadline, shop))
                        .toList();
        Promise.all(loop, offers).thenAccept(this::show);
        loop.runUntilEmpty(); // Until all promises are settled.
    }
}

Promise<Optional<Offer>> visit(EventLoop loop, Cancellation deadline, String shop) {
    return loop.promisify(deadline, _ -> Optional.of(new Offer(shop, ask(shop))))
            .recover(CancelledException.class, late -> giveUp(shop))
            .recover(failure -> Optional.of(fallback(shop, failure)));
}

Optional<Offer> giveUp(String shop) {
    IO.println(shop + " did not respond in time");
    return Optional.empty();
}

Offer fallback(String shop, Throwable failure) {
    IO.println(shop + " failed (" + failure.getMessage() + "): using its catalogue price");
    return new Offer(shop, 11);
}

void show(List<Optional<Offer>> answers) {
    var offers = answers.stream().flatMap(Optional::stream);
    var best = offers.min(Comparator.comparing(Offer::price));
    IO.println("best offer: " + best.map(Offer::shop).orElse("none"));
}

int ask(String shop) throws Exception { // Blocking code, as in a library.
    return switch (shop) {
        case "corner" -> 12;
        case "market" -> throw new IOException("closed on Mondays");
        default -> new CompletableFuture<Integer>().get(); // Blocks forever.
    };
}
