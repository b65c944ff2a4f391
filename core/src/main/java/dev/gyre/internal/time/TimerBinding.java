package dev.gyre.internal.time;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;
import dev.gyre.internal.base.IntrusiveList;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Binds a timer to a cancellation. It replaces the timer's callback, so timers without a binding
/// are neither larger nor slower.
///
/// It listens only while the timer is in the queue, and the notification only removes the timer.
/// Whether the timer counts as scheduled and may fire is queried from the cancellation itself. So
/// the result does not depend on when the loop processes the notification.
final class TimerBinding extends IntrusiveList.Node<TimerBinding>
        implements Consumer<Timer>, Runnable {
    private final LoopTimer timer;
    private final Consumer<? super Timer> callback;

    // Loop thread only.
    private Cancellation cancellation;
    private boolean listening;

    // Shared: guarded by the lock of the registrations.
    private @Nullable Registration registration;

    TimerBinding(LoopTimer timer, Consumer<? super Timer> callback, Cancellation cancellation) {
        this.timer = timer;
        this.callback = callback;
        this.cancellation = cancellation;
    }

    void addCancellation(Cancellation another) {
        stopListening();
        cancellation = Cancellation.anyOf(cancellation, another);
    }

    boolean isCancelled() {
        return cancellation.isCancelled();
    }

    /// Starts listening. Called when the timer enters the queue. Idempotent.
    void listen() {
        if (listening) {
            return;
        }
        listening = true;
        Registration registered = cancellation.onCancel(this);
        // False if the callback ran inside onCancel: then nothing would remove it again.
        if (listening) {
            timer.queue.registrations.add(this, registered);
        }
    }

    /// Stops listening. Called when the timer leaves the queue.
    void stopListening() {
        if (listening) {
            listening = false;
            timer.queue.registrations.remove(this);
        }
    }

    /// Fires the timer, unless it is cancelled.
    @Override
    public void accept(Timer fired) {
        if (cancellation.isCancelled()) {
            removeTimer();
            return;
        }
        if (timer.place == LoopTimer.UNSCHEDULED) {
            stopListening();
        }
        callback.accept(fired);
    }

    /// Handles the cancellation on any thread. Only the loop thread may remove the timer: a loop
    /// without a thread may get one at any instant.
    @Override
    public void run() {
        EventLoop loop = timer.queue.context.loop();
        if (loop.isLoopThread()) {
            removeTimer();
            return;
        }
        try {
            loop.submitPriority(this::removeTimer);
        } catch (LoopTerminatedException e) {
            // A terminated loop does not fire it.
        }
    }

    private void removeTimer() {
        timer.queue.remove(timer);
        stopListening();
    }

    /// The registrations of all bound timers of a loop. A cancellation may outlive many loops, so a
    /// loop closes its registrations when it terminates.
    ///
    /// Guarded by a lock, because any thread may terminate a loop that no thread runs.
    static final class Registrations {
        // Shared: guarded by the lock, which is this object.
        private final IntrusiveList<TimerBinding> bindings = new IntrusiveList<>();
        private boolean closed;

        /// Keeps the registration until the binding is removed or the loop terminates.
        void add(TimerBinding binding, Registration registration) {
            synchronized (this) {
                if (!closed) {
                    binding.registration = registration;
                    bindings.add(binding);
                    return;
                }
            }
            registration.close();
        }

        void remove(TimerBinding binding) {
            Registration registration = null;
            synchronized (this) {
                if (bindings.contains(binding)) {
                    bindings.remove(binding);
                    registration = binding.registration;
                    binding.registration = null;
                }
            }
            if (registration != null) {
                registration.close();
            }
        }

        /// Closes all registrations, and every one that is added later.
        void close() {
            while (true) {
                TimerBinding binding;
                synchronized (this) {
                    closed = true;
                    binding = bindings.first();
                }
                if (binding == null) {
                    return;
                }
                remove(binding);
            }
        }
    }
}
