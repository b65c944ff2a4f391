/// Promises: their state, steps and combinations, the registry of pending promises, and work
/// outside the loop that settles them.
@NullMarked
package dev.gyre.internal.promise;

import org.jspecify.annotations.NullMarked;
