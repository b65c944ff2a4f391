package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BiConsumer;

/// What heads of requests and of responses have in common: how they are looked for, their bytes, and their fields.
///
/// **Threads.** One at a time.
public abstract sealed class MessageHead implements Headers permits RequestHead, ResponseHead {
    private final Window window;
    final Fields fields;
    final Framing framing;

    // Loop thread only.
    private int length;
    private @Nullable Refusal refusal;

    MessageHead(int maxHead, int maxFields, Framing.Section section) {
        window = new Window(maxHead);
        fields = new Fields(maxFields);
        framing = new Framing(section);
    }

    // ------------------------------------------------------------------ parsing

    /// Looks for a head at the reading position, and takes nothing.
    ///
    /// @return how many bytes it has, with the empty line at its end; 0 if more is needed; -1 if it is refused
    /// @throws IllegalStateException if the head before is kept
    public final int parse(Buffer data) {
        fields.requireNotKept();
        window.open(data);
        int at = parse(window.bytes(), window.end());
        while (at == 0 && window.widen(data)) {
            at = parse(window.bytes(), window.end());
        }
        if (at > 0) {
            window.used(at);
            length = at;
            return at;
        }
        if (at < 0 || window.isFull()) {
            return refuse(at == 0 ? Refusal.HEAD_TOO_LARGE : Refusal.of(at));
        }
        release();
        return 0;
    }

    /// Rejects a head, even a complete one, for a reason outside its bytes.
    ///
    /// @return -1, as [#parse]
    public final int refuse(Refusal why) {
        noteRefused();
        release();
        refusal = why;
        return -1;
    }

    /// @return behind the head; 0 if the end came before; or the code of a refusal
    private int parse(byte[] data, int end) {
        forget();
        fields.begin(data);
        int at = firstLine(data, end);
        if (at > 0) {
            at = fields.parse(data, at, end, framing);
        }
        if (at > 0) {
            int refused = finish(data);
            return refused < 0 ? refused : at;
        }
        return at;
    }

    /// Parses the first line.
    ///
    /// @return behind the line; 0 if the end came before; or the code of a refusal
    abstract int firstLine(byte[] data, int end);

    /// All fields are there.
    ///
    /// @return the code of a refusal, if they contradict each other; otherwise 0
    abstract int finish(byte[] data);

    /// It is refused, and will be forgotten: what somebody may want to know of it is to be noted.
    void noteRefused() {}

    /// Forgets the first line.
    abstract void forgetFirstLine();

    private void forget() {
        length = 0;
        refusal = null;
        framing.clear();
        forgetFirstLine();
    }

    /// Why it was refused.
    ///
    /// @throws IllegalStateException if the last [#parse] did not refuse
    public final Refusal refusal() {
        Refusal why = refusal;
        if (why == null) {
            throw new IllegalStateException("nothing was refused: the last parse() was not -1");
        }
        return why;
    }

    // ------------------------------------------------------------------ its bytes

    /// How many bytes the head has; 0 if there is none.
    public final int length() {
        return length;
    }

    /// Keeps everything until [#release]: for a message that is dealt with later. Another head has to be used for
    /// further ones meanwhile. Does nothing if that is done.
    ///
    /// @throws IllegalStateException if there is no complete head
    public final void keep() {
        fields.keep();
    }

    final boolean isKept() {
        return fields.isKept();
    }

    /// Forgets everything that was parsed, and can be used for another message. Twice is safe.
    public final void release() {
        forget();
        fields.release();
    }

    // ------------------------------------------------------------------ fields

    @Override
    public final @Nullable String get(String name) {
        return fields.get(name);
    }

    @Override
    public final List<String> all(String name) {
        return fields.all(name);
    }

    @Override
    public final boolean contains(String name) {
        return fields.contains(name);
    }

    @Override
    public final boolean lists(String name, String token) {
        return fields.lists(name, token);
    }

    @Override
    public final int size() {
        return fields.size();
    }

    @Override
    public final void forEach(BiConsumer<? super String, ? super String> field) {
        fields.forEach(field);
    }

    /// The fields as text of their own, which needs no release.
    public final Headers copy() {
        return fields.copy();
    }
}
