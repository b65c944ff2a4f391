package dev.gyre.internal.os;

import dev.gyre.internal.os.InotifyReader.MoveHalf;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Detects a possible exchange of two entries. The kernel reports an exchange as two moves, there
/// and back, just like two moves of one entry.
///
/// It keeps both directories locked meanwhile, so in each of them the two moves are adjacent. Other
/// directories may have events between the two.
///
/// Loop thread only.
final class RenameDetector {
    /// @param origin `null` if unknown
    private record Arrival(Path name, @Nullable MoveHalf origin) {}

    private final DirectoryListener.Registry listeners;

    /// The latest event of each directory, if it was an arrival.
    private final Map<Integer, Arrival> latest = new HashMap<>();

    RenameDetector(DirectoryListener.Registry listeners) {
        this.listeners = listeners;
    }

    /// @param origin `null` if unknown
    void onArrived(MoveHalf to, @Nullable MoveHalf origin) {
        if (listeners.hasAny(to.watch())) {
            latest.put(to.watch(), new Arrival(to.name(), origin));
        }
    }

    /// Returns whether another entry may have its name now; the target is null if unknown.
    boolean isPossibleExchange(MoveHalf from, @Nullable MoveHalf target) {
        Arrival arrival = latest.remove(from.watch());
        if (arrival == null || !arrival.name.equals(from.name())) {
            return false;
        }
        MoveHalf origin = arrival.origin;
        return origin == null || target == null || mayBeSamePlace(origin, target);
    }

    private boolean mayBeSamePlace(MoveHalf one, MoveHalf other) {
        if (!listeners.hasAny(one.watch()) || !listeners.hasAny(other.watch())) {
            return true; // An unwatched directory may have got another watch.
        }
        return one.watch() == other.watch() && one.name().equals(other.name());
    }

    /// The directory had another event, or is no longer watched.
    void forget(int watch) {
        latest.remove(watch);
    }
}
