package dev.gyre.stress;

/// A task with its producer and sequence number.
///
/// Its fields are not final on purpose: final fields are visible however the task got to its
/// reader, but a lane has to make everything visible that was written before the offer.
final class Numbered implements Runnable {
    static final int A = 0;
    static final int B = 1;
    static final int PRODUCERS = 2;

    int producer = -1;
    int number;

    static Numbered a(int number) {
        return of(A, number);
    }

    static Numbered b(int number) {
        return of(B, number);
    }

    private static Numbered of(int producer, int number) {
        Numbered task = new Numbered();
        task.producer = producer;
        task.number = number;
        return task;
    }

    @Override
    public void run() {}
}
