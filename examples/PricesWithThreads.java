/// Asks three shops at once and takes the best offer that comes in time: with virtual threads.
import dev.gyre.EventLoop;

record Offer(String shop, int price) {}

void main() {
    try (var loop = EventLoop.open()) {
        Thread.startVirtualThread(() -> visitAll(loop));
        loop.run();
    }
}

/// On a thread of its own: it waits for the others, and the loop does not.
void visitAll(EventLoop loop) {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var shops = List.of("corner", "market", "island");
        var questions = shops.stream().map(shop -> (Callable<Integer>) () -> ask(shop)).toList();
        var answers = threads.invokeAll(questions, 3, TimeUnit.SECONDS); // Interrupts the rest.
        var offers = new ArrayList<Offer>();
        for (int i = 0; i < answers.size(); i++) {
            offer(shops.get(i), answers.get(i)).ifPresent(offers::add);
        }
        loop.submit(() -> show(offers)); // What belongs to the loop is touched there.
    } catch (InterruptedException e) {
        IO.println("interrupted: nobody wants an offer any more");
    } finally {
        loop.submit(loop::stop); // After the offers.
    }
}

Optional<Offer> offer(String shop, Future<Integer> answer) {
    return switch (answer.state()) {
        case SUCCESS -> Optional.of(new Offer(shop, answer.resultNow()));
        case FAILED -> Optional.of(fallback(shop, answer.exceptionNow()));
        case CANCELLED, RUNNING -> giveUp(shop);
    };
}

Optional<Offer> giveUp(String shop) {
    IO.println(shop + " did not answer in time");
    return Optional.empty();
}

Offer fallback(String shop, Throwable failure) {
    IO.println(shop + " failed (" + failure.getMessage() + "): its catalogue has to do");
    return new Offer(shop, 11);
}

void show(List<Offer> offers) {
    var best = offers.stream().min(Comparator.comparing(Offer::price));
    IO.println("best offer: " + best.map(Offer::shop).orElse("none"));
}

int ask(String shop) throws Exception { // Blocking code, as libraries have it.
    return switch (shop) {
        case "corner" -> 12;
        case "market" -> throw new IOException("closed on Mondays");
        default -> new CompletableFuture<Integer>().get(); // Far away: blocks for ever.
    };
}
