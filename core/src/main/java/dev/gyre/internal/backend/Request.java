package dev.gyre.internal.backend;

import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.base.IntrusiveList;
import dev.gyre.internal.sys.Errno;

import org.jspecify.annotations.Nullable;

/// One request to the kernel: plain data that its owner fills in and reuses.
///
/// ```
///            start                  the kernel is done                   delivered
///     IDLE ─────────▶ PENDING ─────────────────────────────▶ COMPLETED ─────────────▶ IDLE
///                        │  cancel, close of the descriptor      ▲   │
///                        └───────────────────────────────────────┘   └──▶ PENDING (multishot)
/// ```
///
/// From `start` until it is delivered it belongs to the backend, and so does all memory that it
/// refers to.
///
/// Loop thread only.
public final class Request extends IntrusiveList.Node<Request> {
    public enum State {
        IDLE,
        PENDING,
        COMPLETED
    }

    public final CompletionHandler handler;

    // Arguments: set by the owner while idle. Opcode documents which of them it uses.
    public Opcode opcode = Opcode.READ;
    public int fd = -1;
    public int fd2 = -1;
    public long address;
    public long address2;
    public long length;
    public long offset;
    public int flags;

    /// Keeps the memory at the addresses reachable, if nothing else does.
    public @Nullable Object memory;

    /// Whether it completes repeatedly until it fails or is cancelled. Only ACCEPT and RECEIVE.
    public boolean multishot;

    /// The key by which several requests of a descriptor are cancelled.
    public @Nullable Object key;

    /// Runs each time that a write has transferred a part; null if absent. Must only record it,
    /// because it runs in the middle of an operation.
    public @Nullable Runnable onProgress;

    // Results: for the handler.

    /// Zero or more, or `-errno`; `-ECANCELED` if it was cancelled.
    public long result;

    /// How many bytes a WRITE, WRITE_VECTOR, SEND_FILE or FILE_WRITE has written, also if it failed
    /// afterwards.
    public long transferred;

    /// The number of the buffer that a RECEIVE has filled, in [ReceiveBuffers].
    public int buffer = -1;

    /// Whether a multishot continues after this completion.
    public boolean more;

    // For the backend.
    State state = State.IDLE;
    private int generation;

    /// Whether it was cancelled while it, or an earlier request, was in the kernel.
    public boolean cancelRequested;

    /// A mark of the backend: the progress of the request.
    public int stage;

    /// The slot in a table of the backend.
    public int slot = -1;

    public @Nullable DescriptorState descriptor;

    public Request(CompletionHandler handler) {
        this.handler = handler;
    }

    public State state() {
        return state;
    }

    /// Returns a number that changes with every start.
    public int generation() {
        return generation;
    }

    /// Called by the `start` of a backend.
    public void begin(@Nullable DescriptorState of) {
        assert state == State.IDLE : "O-9: started while " + state;
        state = State.PENDING;
        generation++;
        descriptor = of;
        result = 0;
        transferred = 0;
        buffer = -1;
        more = false;
        cancelRequested = false;
        stage = 0;
    }

    public void reportProgress() {
        Runnable progress = onProgress;
        if (progress != null) {
            progress.run();
        }
    }

    /// Returns whether a multishot may continue after this result. Zero is the end of a stream, but
    /// not of a listener, where it is a descriptor, nor of a datagram socket, where it is an empty
    /// one.
    public boolean continuesAfter(long outcome) {
        if (outcome != 0 || opcode == Opcode.ACCEPT) {
            return outcome >= 0;
        }
        DescriptorState of = descriptor;
        return of != null && Traits.isDatagram(of.traits);
    }

    /// Returns whether it is too late to cancel it.
    public boolean isFinished() {
        return state == State.IDLE || (state == State.COMPLETED && !more);
    }

    /// Returns whether the request has this key; null matches every request.
    public boolean hasKey(@Nullable Object of) {
        return of == null || of.equals(key);
    }

    public boolean isCancelled() {
        return result == -Errno.ECANCELED;
    }
}
