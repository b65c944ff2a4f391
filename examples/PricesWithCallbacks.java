/// Asks three shops concurrently and selects the best offer within a deadline: with callbacks.
import dev.gyre.EventLoop;

record Offer(String shop, int price) {}

final EventLoop loop = EventLoop.open();
final Map<String, Thread> asked = new LinkedHashMap<>(); // Pending requests.
final List<Offer> offers = new ArrayList<>();

void main() {
    try (loop) {
        loop.after(Duration.ofSeconds(3), timer -> finish());
        for (String shop : List.of("corner", "market", "island")) {
            asked.put(shop, Thread.startVirtualThread(() -> visit(shop)));
        }
        loop.run();
    }
}

/// Runs on its own thread: may block, must not use loop objects.
void visit(String shop) {
    try {
        int price = ask(shop);
        loop.trySubmit(() -> responded(shop, () -> new Offer(shop, price)));
    } catch (Exception e) {
        loop.trySubmit(() -> responded(shop, () -> fallback(shop, e)));
    }
}

void responded(String shop, Supplier<Offer> offer) {
    if (asked.remove(shop) != null) { // Otherwise the deadline has passed.
        offers.add(offer.get());
        if (asked.isEmpty()) {
            finish();
        }
    }
}

void finish() { // All shops have responded, or the deadline has passed.
    loop.stop();
    asked.values().forEach(Thread::interrupt);
    asked.keySet().forEach(shop -> IO.println(shop + " did not respond in time"));
    asked.clear();
    var best = offers.stream().min(Comparator.comparing(Offer::price));
    IO.println("best offer: " + best.map(Offer::shop).orElse("none"));
}

Offer fallback(String shop, Exception failure) {
    IO.println(shop + " failed (" + failure.getMessage() + "): using its catalogue price");
    return new Offer(shop, 11);
}

int ask(String shop) throws Exception { // Blocking code, as in a library.
    return switch (shop) {
        case "corner" -> 12;
        case "market" -> throw new IOException("closed on Mondays");
        default -> new CompletableFuture<Integer>().get(); // Blocks forever.
    };
}
