package dev.gyre.internal.os;

import dev.gyre.internal.os.InotifyReader.MoveHalf;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Tells when two entries may have been exchanged. The kernel tells that as two moves, there and
/// back, just as if one entry had been moved twice.
///
/// It keeps both directories locked meanwhile, so in each of them the first move and the second are
/// neighbours; other directories may well have events between the two.
///
/// Loop thread only.
final class RenameDetector {
    /// @param origin null if it is not known
    private record Arrival(Path name, @Nullable MoveHalf origin) {}

    private final Listeners listeners;

    /// The last thing that happened to the entries of a directory, if that was an arrival.
    private final Map<Integer, Arrival> latest = new HashMap<>();

    RenameDetector(Listeners listeners) {
        this.listeners = listeners;
    }

    /// An entry has come by a move.
    ///
    /// @param origin null if it is not known
    void onArrived(MoveHalf to, @Nullable MoveHalf origin) {
        if (listeners.hasAny(to.watch())) {
            latest.put(to.watch(), new Arrival(to.name(), origin));
        }
    }

    /// An entry has left.
    ///
    /// @param target null if it is not known
    /// @return whether another entry may have the name now
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
            return true; // A directory that was given up may have been given another number.
        }
        return one.watch() == other.watch() && one.name().equals(other.name());
    }

    /// Something else happened in the directory, or it is not watched any more.
    void forget(int watch) {
        latest.remove(watch);
    }
}
