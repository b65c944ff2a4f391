package dev.gyre.internal.time;

import dev.gyre.Cancellation.Registration;

import org.jspecify.annotations.Nullable;

/// The timers of a loop that listen to a cancellation. A cancellation may outlive many loops, so when one
/// ends, its timers must be known.
///
/// With a lock, for a loop that no thread runs is ended by any.
final class TimerBindings {
    // Shared: guarded by the lock, which is this object.
    private @Nullable TimerBinding first;
    private boolean closed;

    /// Keeps the registration until the binding is removed or the loop ends.
    void add(TimerBinding binding, Registration registration) {
        synchronized (this) {
            if (!closed) {
                binding.registration = registration;
                binding.next = first;
                if (first != null) {
                    first.previous = binding;
                }
                first = binding;
                return;
            }
        }
        registration.close();
    }

    /// Closes the registration of a binding, if it is there.
    void remove(TimerBinding binding) {
        Registration registration;
        synchronized (this) {
            registration = unlink(binding);
        }
        if (registration != null) {
            registration.close();
        }
    }

    /// Closes all of them, and all that come later.
    void close() {
        while (true) {
            Registration registration;
            synchronized (this) {
                closed = true;
                if (first == null) {
                    return;
                }
                registration = unlink(first);
            }
            if (registration != null) {
                registration.close();
            }
        }
    }

    private @Nullable Registration unlink(TimerBinding binding) {
        Registration registration = binding.registration;
        if (registration == null) {
            return null;
        }
        if (binding.previous == null) {
            first = binding.next;
        } else {
            binding.previous.next = binding.next;
        }
        if (binding.next != null) {
            binding.next.previous = binding.previous;
        }
        binding.previous = null;
        binding.next = null;
        binding.registration = null;
        return registration;
    }
}
