package dev.gyre.internal.backend;

import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.sys.Errno;

import org.jspecify.annotations.Nullable;

/// One thing that the kernel is asked to do: plain data, filled in by its owner and used again and again.
///
/// ```
///            start                  the kernel is through                handed out
///     IDLE ─────────▶ PENDING ─────────────────────────────▶ COMPLETED ─────────────▶ IDLE
///                        │  cancel, close of the descriptor      ▲   │
///                        └───────────────────────────────────────┘   └──▶ PENDING (multishot)
/// ```
///
/// From `start` until it is handed out it belongs to the backend, and so does all memory that it points to.
///
/// Loop thread only.
public final class Request {
    public enum State {
        IDLE,
        PENDING,
        COMPLETED
    }

    /// Receives the completions.
    public final CompletionHandler handler;

    // What to do: set by the owner while idle. Opcode says which of them it uses, and how.
    public Opcode opcode = Opcode.READ;
    public int fd = -1;
    public int fd2 = -1;
    public long address;
    public long address2;
    public long length;
    public long offset;
    public int flags;

    /// What the addresses point into, if nobody else keeps it alive.
    public @Nullable Object memory;

    /// Whether it completes again and again until it fails or is cancelled. Only ACCEPT and RECEIVE.
    public boolean multishot;

    /// What several of a descriptor can be cancelled by.
    public @Nullable Object key;

    /// Told each time that a write has come further and not to its end; null if nobody wants to know. Notes it and
    /// does nothing else: it is called in the middle of things.
    public @Nullable Runnable onProgress;

    // How it went: for the owner, when it is handed out.

    /// What the kernel said: zero or more, or `-errno`; `-ECANCELED` if it was cancelled.
    public long result;

    /// Of a WRITE, WRITE_VECTOR, SEND_FILE or FILE_WRITE: how much went out, also if it failed after that.
    public long transferred;

    /// Of a RECEIVE that brought bytes: which buffer, for [ReceiveBuffers].
    public int buffer = -1;

    /// Of a multishot: whether it goes on after this completion.
    public boolean more;

    // For the backend.
    State state = State.IDLE;
    int generation;

    /// Cancelled by its owner while the kernel was at it, or behind one that the kernel is at.
    public boolean cancelRequested;

    /// A mark of the backend's: where the request is on its way.
    public int stage;

    /// The slot that it has in a table of the backend's.
    public int slot = -1;

    public @Nullable DescriptorState descriptor;
    @Nullable Request next;
    @Nullable Request previous;
    @Nullable RequestQueue queue;

    public Request(CompletionHandler handler) {
        this.handler = handler;
    }

    public State state() {
        return state;
    }

    /// Which start this is: each has another one.
    public int generation() {
        return generation;
    }

    /// Called by the backend's `start`.
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

    /// A part of it went out.
    public void reportProgress() {
        Runnable told = onProgress;
        if (told != null) {
            told.run();
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

    public boolean isCancelled() {
        return result == -Errno.ECANCELED;
    }
}
