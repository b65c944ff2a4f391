package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.sys.Kevent.EV_ADD;
import static dev.gyre.internal.sys.Kevent.EV_CLEAR;
import static dev.gyre.internal.sys.Kevent.EV_ENABLE;

import dev.gyre.internal.backend.InterestUpdater;

/// Signals, processes or files as kqueue knows them: one filter each, that adds up what happened
/// since it was told last.
final class EventInterestUpdater implements InterestUpdater {
    private final ChangeList changes;
    private final int filter;
    private final int table;

    /// @param table which one it is in a [Mark]
    EventInterestUpdater(ChangeList changes, int filter, int table) {
        this.changes = changes;
        this.filter = filter;
        this.table = table;
    }

    @Override
    public String call(boolean registering) {
        return "kevent(EV_ADD)";
    }

    @Override
    public int examine(int number) {
        return table;
    }

    /// @param notes what to be told of, as the filter has it
    @Override
    public int arm(boolean registering, int number, long data, int notes) {
        int result =
                changes.clear()
                        .put(number, filter, EV_ADD | EV_ENABLE | EV_CLEAR, notes, data)
                        .submit();
        return result < 0 ? result : changes.result(0);
    }

    @Override
    public void disarm(int number) {
        int _ = changes.clear().delete(number, filter).submit();
    }
}
